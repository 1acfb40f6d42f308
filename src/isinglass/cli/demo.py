"""isinglass demo: two tables as files, and the commands that a newcomer would give for them."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from isinglass.cli.command import command
from isinglass.cli.console import Console, csv_text
from isinglass.cli.output import OutputFolder

FILES = ["senate.csv", "senators.csv", "survey.csv"]


@command("demo", general="")
def demo(console: Console, output: Path | None, force: bool) -> None:
    """Analyze the votes of the U.S. Senate and a questionnaire, and show the commands that do it.

    Which senators vote together, given the votes of all others? senate.csv has one column per senator and one row per
    roll call of 2006, and senators.csv their parties and states. The questionnaire, survey.csv, is the American
    National Election Study of 1996: ordered answers, numbers and a vote.

    Writes these files to the folder -o, demo by default, then runs `fit` and `report` on them and prints each
    command. Open senate.html and survey.html in a browser.
    """
    from isinglass.cli import main
    from isinglass.datasets import load_anes96, load_senate109

    folder = OutputFolder(output or Path("demo"), FILES, force=force)
    senate, survey = load_senate109(), load_anes96()
    votes = [[None if vote != vote else int(vote) for vote in rollcall] for rollcall in senate.votes.tolist()]
    senators = zip(senate.names, senate.parties, senate.states, strict=True)
    with folder.filling() as here:
        (here / "senate.csv").write_text(csv_text(senate.names, votes), encoding="utf-8")
        (here / "senators.csv").write_text(csv_text(["name", "party", "state"], senators), encoding="utf-8")
        (here / "survey.csv").write_text(csv_text(survey.names, survey.answers.tolist()), encoding="utf-8")
    console.say_facts({"Wrote": folder.summary})
    kinds = survey.table.variables.kinds
    ordinal, continuous = (
        ",".join(name for name, kind in zip(survey.names, kinds, strict=True) if kind == wanted)
        for wanted in ("ordinal", "continuous")
    )
    place, colors = folder.path, ["--attributes", str(folder.path / "senators.csv")]
    commands: list[list[str | Path]] = [
        ["fit", place / "senate.csv", "--missing", "zero", *colors, "-o", place / "senate"],
        ["report", place / "senate", place / "senate.csv", *colors, "-o", place / "senate.html"],
        ["fit", place / "survey.csv", "--ordinal", ordinal, "--continuous", continuous, "-o", place / "survey"],
        ["report", place / "survey", place / "survey.csv", "-o", place / "survey.html"],
    ]
    for line in commands:
        words = [str(word) for word in line]
        if not console.quiet:
            console.say("")
            console.say(f"$ isinglass {shlex.join(words)}")
        again = ["--force"] if force and words[0] == "fit" else []
        code = main([*words, *again, *["-q"] * console.quiet], standalone_mode=False)
        if code:
            raise click.exceptions.Exit(code)
