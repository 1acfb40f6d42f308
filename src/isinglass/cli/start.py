"""isinglass app and demo: ways to begin."""

from __future__ import annotations

import shlex
import threading
from pathlib import Path

import click

from isinglass.cli.command import command
from isinglass.cli.console import Console, csv_text
from isinglass.cli.options import MAYBE_TABLE
from isinglass.cli.output import OutputFolder

DEMO_FILES = ["senate.csv", "senators.csv", "survey.csv"]


@command("app", MAYBE_TABLE, general="")
def app(console: Console, table: str | None, port: int | None, browser: bool) -> None:
    """Analyze a table in the browser.

    Drop a table on the page, check its columns, and fit; TABLE, if given, is opened at once. Every step shows the
    command and the Python code that do the same. The server is reachable only from this computer, at an address that
    cannot be guessed. Its files are in a temporary folder, which is removed when you stop the server with Ctrl-C.
    """
    import tempfile
    import webbrowser

    from isinglass.app.server import Server
    from isinglass.app.session import MOST_BYTES, TOO_LARGE

    if table is not None and Path(table).stat().st_size > MOST_BYTES:
        raise click.UsageError(TOO_LARGE)
    with tempfile.TemporaryDirectory(prefix="isinglass-app-", ignore_cleanup_errors=True) as folder:
        try:
            server = Server(Path(folder), port or 0)
        except OSError as error:
            raise click.UsageError(f"--port {port} cannot be used: {error.strerror}. Choose another port.") from None
        with server:
            console.write(f"{server.address}\n")
            console.say("Open this address if no browser opens. Ctrl-C stops the app and removes its files.")
            if table is not None:
                threading.Thread(target=server.session.open_file, args=(table,), daemon=True).start()
            if browser:
                threading.Thread(target=webbrowser.open, args=(server.address,), daemon=True).start()
            server.serve_forever(poll_interval=0.2)


@command("demo", general="")
def demo(console: Console, output: Path | None, force: bool) -> None:
    """Fit the votes of the Senate and a questionnaire, and show the commands.

    Which senators vote together, given the votes of all others? senate.csv has one column per senator and one row per
    roll call of 2006, and senators.csv their parties and states. The questionnaire, survey.csv, is the American
    National Election Study of 1996: ordered answers, numbers and a vote.

    Writes these files to the folder -o, demo by default, then runs `fit` and `report` on them and prints each
    command. Open senate.html and survey.html in a browser.
    """
    from isinglass.cli import main
    from isinglass.datasets import load_anes96, load_senate109

    folder = OutputFolder(output or Path("demo"), DEMO_FILES, force=force)
    senate, survey = load_senate109(), load_anes96()
    votes = [[None if vote != vote else int(vote) for vote in rollcall] for rollcall in senate.votes.tolist()]
    senators = zip(senate.names, senate.parties, senate.states, strict=True)
    with folder.filling() as here:
        (here / "senate.csv").write_text(csv_text(senate.names, votes), encoding="utf-8")
        (here / "senators.csv").write_text(csv_text(["name", "party", "state"], senators), encoding="utf-8")
        (here / "survey.csv").write_text(csv_text(survey.names, survey.answers.tolist()), encoding="utf-8")
    console.say_facts({"Wrote": folder.summary})
    kinds = dict(zip(survey.names, survey.table.variables.kinds, strict=True))
    ordinal, continuous = (
        ",".join(name for name in kinds if kinds[name] == kind) for kind in ("ordinal", "continuous")
    )
    first, second = (str(folder.path / name) for name in ("senate", "survey"))
    colors = ["--attributes", str(folder.path / "senators.csv")]
    for words in (
        ["fit", f"{first}.csv", "--missing", "zero", *colors, "-o", first],
        ["report", first, f"{first}.csv", *colors, "-o", f"{first}.html"],
        ["fit", f"{second}.csv", "--ordinal", ordinal, "--continuous", continuous, "-o", second],
        ["report", second, f"{second}.csv", "-o", f"{second}.html"],
    ):
        if not console.quiet:
            console.say("")
            console.say(f"$ isinglass {shlex.join(words)}")
        again = ["--force"] if force and words[0] == "fit" else []
        code = main([*words, *again, *["-q"] * console.quiet], standalone_mode=False)
        if code:
            raise click.exceptions.Exit(code)
