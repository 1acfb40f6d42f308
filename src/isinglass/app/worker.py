"""The child process of the server: it runs commands of the command line, and two of its own, one after the other.

Requests are lines of JSON on its standard input, answers lines on its standard output. It ends with the server, and the
server ends it when a job is to stop.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib.resources import files
from pathlib import Path

from isinglass.cli import fit, info, main  # noqa: F401 - fit is loaded before the first request
from isinglass.cli.command import command
from isinglass.cli.console import Console, collecting_messages, csv_text
from isinglass.cli.grammar import NUMBER
from isinglass.cli.option_table import TABLE
from isinglass.cli.reading import READING, Reading
from isinglass.data.files import read_table  # noqa: F401 - as above
from isinglass.datasets import load_senate109
from isinglass.errors import Setting
from isinglass.json_text import JsonObject
from isinglass.select.progress import reporting
from isinglass.text_tables import join_words

REPORT_SECONDS = 0.1  # between two reports of progress
SHOWN_VALUES = 30  # of a column
LABELS = {
    "weights": "Weights of the rows",
    "weight_kind": "They are",
    "groups": "Groups to compare",
    "missing": "Missing cells",
    "na_values": "Codes for missing answers",
    "covariates": "Covariate",
    "id_column": "The first column names the rows",
}
"""Of controls of the page, by the options that they stand for."""
CHOICES = {
    "missing": {"impute": "impute them", "drop": "leave out their rows", "zero": "read them as 0"},
    "weight_kind": {"sampling": "sampling weights", "counts": "counts of equal rows"},
}
KINDS = {"ordinal": "ordered", "nominal": "unordered", "continuous": "number"}
"""What the page calls the values of these options."""


def name_control(mention: Setting) -> str | None:
    """Return how a message mentions a control of the page; None for what the page has no control for."""
    name, value = mention.name, mention.value
    if name == "na_values" and mention.has_value:
        texts = {key: join_words(codes) for key, codes in value.items()}
        return join_words(
            [
                f"“{LABELS[name]}: {text}”" if key is None else f"“{text} is missing in {key}”"
                for key, text in texts.items()
            ]
        )
    columns = join_words([str(each) for each in value] if isinstance(value, list | tuple) else [str(value)])
    if name == "drop":
        return f"untick {columns}" if mention.has_value else "untick it"
    if name in KINDS:
        return f"“Kind: {KINDS[name]}”" + (f" for {columns}" if mention.has_value else "")
    if name not in LABELS:
        return None
    chosen = CHOICES.get(name, {}).get(str(value), columns)
    return f"“{LABELS[name]}: {chosen}”" if mention.has_value and name != "id_column" else f"“{LABELS[name]}”"


def serve() -> None:
    """Answer requests until the input ends."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a library prints is no answer
    threading.excepthook = lambda _: os._exit(1)  # a job without an answer has failed, and the server starts another

    def send(**news: object) -> None:
        channel.write(json.dumps(news) + "\n")
        channel.flush()

    for line in sys.stdin:  # the server sends a request when the one before is answered
        threading.Thread(target=run, kwargs={**json.loads(line), "send": send}, daemon=True).start()
    os._exit(0)  # the server has gone, and nothing waits for a result


def run(folder: str, commands: list[list[str]], send: Callable[..., None]) -> None:
    """Run commands until one fails; send their progress, what they say and how they end, as fields of a `Job`."""
    os.chdir(folder)
    began = sent = time.monotonic()

    def report(text: str, count: int, total: int | None) -> None:
        nonlocal began, sent
        now = time.monotonic()
        began = began if count else now
        if now - sent > REPORT_SECONDS or count == total:
            left = (now - began) * (total - count) / count if count and total else None
            sent = now
            send(text=text, count=count, total=total, left=left)

    with collecting_messages() as collected:
        for words in commands:
            send(text=words[0], count=0, total=None, left=None)
            with reporting(report):
                code, output, said = run_command(words)
            if code:
                error = said.strip().rpartition("Error: ")[2]
                send(state="failed", error=error or f"The command ended with exit code {code}.")
                return
    send(state="done", facts=collected.facts, warnings=collected.warnings, output=output)


def run_command(words: list[str]) -> tuple[int, str, str]:
    """Run one command; return its exit code, what it wrote, and what it said to people."""
    output, said = io.BytesIO(), io.StringIO()
    with contextlib.redirect_stdout(io.TextIOWrapper(output)), contextlib.redirect_stderr(said):
        code = main(words, standalone_mode=False, obj=name_control)
        return int(code or 0), output.getvalue().decode(), said.getvalue()


@command("look", TABLE, bundles=[READING])
def look(console: Console, table: str, reading: Reading) -> None:
    """Write the columns of TABLE and what is known of them, as JSON for the page."""
    data, columns = info.look(console, table, reading)
    shown = [{**vars(column), **_values(column.values)} for column in columns]
    size = {"n_rows": len(data), "n_missing": data.n_missing, "weights": info.weights_place(columns, reading)}
    console.write_json({"columns": shown, **size, "file": reading.describe_file(data)})


def _values(values: Sequence[object]) -> JsonObject:
    """Return the first values and the last as texts, and how many there are."""
    known = [value for value in values if value is not None]
    shown = known if len(known) <= SHOWN_VALUES else [*known[: SHOWN_VALUES - 1], known[-1]]
    texts = [NUMBER.spell(value) if isinstance(value, float) else str(value)[:100] for value in shown]
    return {"values": texts, "n_values": len(known)}


@command("example")
def example(console: Console, output: Path) -> None:
    """Write the table of an example to this folder."""
    if output.name == "mood.csv":
        output.write_bytes(files(__package__).joinpath(output.name).read_bytes())
    else:
        senate = load_senate109()
        output.write_text(csv_text(senate.names, senate.X.tolist()), encoding="utf-8")


main.add_command(look)
main.add_command(example)

if __name__ == "__main__":
    serve()
