"""The child process of the server: it looks at tables, and runs commands of the command line one after the other.

Requests are lines of JSON on its standard input, answers lines on its standard output. It ends with the server, and the
server ends it when a job is to stop.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

Send = Callable[..., None]
REPORT_SECONDS = 0.1  # between two reports of progress
SHOWN_VALUES = 30  # of a column


def serve() -> None:
    """Answer requests until the input ends."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no answer

    def send(**answer: object) -> None:
        channel.write(json.dumps(answer) + "\n")
        channel.flush()

    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(requests,), daemon=True).start()
    import isinglass.cli.fit
    import isinglass.cli.info
    import isinglass.data.files
    import isinglass.select  # noqa: F401 - before the first request

    while True:
        request = requests.get()
        os.chdir(request["folder"])
        if request["do"] == "look":
            look(request["words"], send)
        elif request["do"] == "example":
            write_example(request["name"], Path(request["folder"]))
            send(done=True)
        else:
            run(request["commands"], send)


def _listen(requests: queue.SimpleQueue[dict[str, Any]]) -> None:
    for line in sys.stdin:
        requests.put(json.loads(line))
    os._exit(0)  # the server has gone, and nothing waits for a result


def write_example(name: str, folder: Path) -> None:
    """Write the table of an example."""
    from isinglass.datasets import load_senate109
    from isinglass.datasets.mood import write_mood

    if name == "mood.csv":
        write_mood(folder)
        (folder / "domains.csv").unlink()
        return
    from isinglass.cli.console import csv_text

    senate = load_senate109()
    (folder / name).write_text(csv_text(senate.names, senate.X.tolist()), encoding="utf-8")


def look(words: list[str], send: Send) -> None:
    """Send what the columns of a file are, or why it cannot be read.

    ``words`` are the file and options about reading it, as `isinglass info` takes them.
    """
    from isinglass.cli.console import Console
    from isinglass.cli.exits import Failure
    from isinglass.cli.info import describe_columns, info, listen
    from isinglass.cli.reading import READING
    from isinglass.data.guards import WEIGHT

    console, guesses = Console("info", quiet=2), {}  # type: ignore[var-annotated]
    with info.make_context("info", list(words)) as ctx, console.listening():
        try:
            given = READING.make(**{name: ctx.params[name] for name in READING.options})
            reading = given.with_defaults(missing="impute", guesses=guesses)
            data, doubts = listen(console, lambda: reading.read(console, ctx.params["table"]))
            columns = describe_columns(data, guesses, doubts)
        except Exception as error:
            send(done=True, error=Failure(error).message)
            return
    for column in columns:
        if WEIGHT.fullmatch(column["name"]):
            column["notes"].append("weights?")
        values = [value for value in column["values"] if value is not None]
        column["n_values"] = len(values)
        shown = values if len(values) <= SHOWN_VALUES else [*values[: SHOWN_VALUES - 1], values[-1]]
        column["values"] = [f"{value:g}" if isinstance(value, float) else str(value)[:100] for value in shown]
    table = {
        "columns": columns,
        "named": bool(data.variables.named),
        "n_rows": len(data),
        "n_missing": data.n_missing,
        "file": reading.describe_file(data),
        "warnings": console.warnings,
    }
    send(done=True, table=table)


def run(commands: list[list[str]], send: Send) -> None:
    """Run commands until one fails; send their progress, what they say and how they end."""
    from isinglass.select.parallel import reporting

    sent = 0.0

    def report(text: str, done: int, total: int | None) -> None:
        nonlocal sent
        now = time.monotonic()
        if now - sent > REPORT_SECONDS or done == total:
            sent = now
            send(text=text, count=done, total=total)

    for number, words in enumerate(commands):
        send(step=number)
        with reporting(report):
            code, said = run_command(words)
        send(said=said)
        if code:
            send(done=True, error=said.strip().rpartition("Error: ")[2] or f"It ended with code {code}.")
            return
    send(done=True)


def run_command(words: list[str]) -> tuple[int, str]:
    """Run one command; return its exit code and what it said to people."""
    from isinglass.cli import main

    said = io.StringIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")), contextlib.redirect_stderr(said):
        code = main(words, standalone_mode=False)
    return int(code or 0), said.getvalue()


if __name__ == "__main__":
    serve()
