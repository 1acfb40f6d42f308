"""The child process of the server: it runs commands of the command line, and one of its own, one after the other.

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
from collections.abc import Callable

from isinglass.app.controls import name_control
from isinglass.cli import fit, main  # noqa: F401 - fit is loaded before the first request
from isinglass.cli.command import command
from isinglass.cli.console import Console, Page, as_failure
from isinglass.cli.grammar import spell_number
from isinglass.cli.info import ColumnInfo, find_weights, look_at, row_names_number
from isinglass.cli.options import TABLE
from isinglass.cli.settings import READING, Reading
from isinglass.data.files import read_table  # noqa: F401 - as above
from isinglass.data.meaning.guessing import NO_ANSWERS
from isinglass.json_text import JsonObject
from isinglass.select.progress import reporting

REPORT_SECONDS = 0.1  # between two reports of progress
SHOWN_VALUES = 30  # of a column


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
    began = sent = time.monotonic()

    def report(text: str, count: int, total: int | None) -> None:
        nonlocal began, sent
        now = time.monotonic()
        began = began if count else now
        if now - sent > REPORT_SECONDS or count == total:
            left = (now - began) * (total - count) / count if count and total else None
            sent = now
            send(text=text, count=count, total=total, left=left)

    try:
        os.chdir(folder)
        page = Page(name_control)
        with reporting(report):
            for words in commands:
                send(text=words[0], count=0, total=None, left=None)
                output = run_command(words, page)
    except Exception as error:
        send(state="failed", error=as_failure(error).format_message())
    else:
        send(state="done", facts=page.facts, warnings=page.warnings, output=output)


def run_command(words: list[str], page: Page) -> str:
    """Run one command for the page, and return what it wrote; an error is raised."""
    output = io.BytesIO()
    with (
        contextlib.redirect_stdout(io.TextIOWrapper(output)),
        main.make_context("isinglass", words, obj=page) as context,
    ):
        main.invoke(context)
        return output.getvalue().decode()


@command("look", TABLE, bundles=[READING])
def look(console: Console, table: str, reading: Reading) -> None:
    """Write the columns of TABLE and what is known of them, as JSON for the page."""
    data, columns = look_at(console, table, reading)
    console.write_json(
        {
            "columns": [_describe(column) for column in columns],
            "n_rows": len(data),
            "n_missing": data.n_missing,
            "weights": find_weights(columns, reading)[0],
            "file": reading.describe_file(data),
            "has_row_names": "id_column" in data.detected,
            "id_column": row_names_number(data),
            "has_decimal_commas": data.detected.get("decimal") == ",",
        }
    )


def _describe(column: ColumnInfo) -> JsonObject:
    """Return a column with the first values and the last as texts; without answers it cannot be used, of any kind."""
    known = [value for value in column.values if value is not None and column.missing < 1]
    shown = known if len(known) <= SHOWN_VALUES else [*known[: SHOWN_VALUES - 1], known[-1]]
    texts = [spell_number(value) if isinstance(value, float) else str(value) for value in shown]
    empty = {"kind": None, "notes": [NO_ANSWERS]} if column.missing == 1 else {}
    return {**vars(column), "values": texts, "n_values": len(known), **empty}


main.add_command(look)

if __name__ == "__main__":
    serve()
