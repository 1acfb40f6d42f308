"""What docs/cli.md and README show of the command line is what happens."""

import re
import runpy
import shlex
import shutil
from importlib.resources import files

import pytest
from click.testing import CliRunner
from commands import main
from test_readme import ROOT

from isinglass.cli import COMMANDS

EXAMPLES = ("mood.csv", "domains.csv")


def sessions(page: str) -> list[tuple[str, str]]:
    """Return the commands of the console blocks of a page, each with what it prints."""
    blocks = re.findall(r"^```console\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [
        (command, printed)
        for block in blocks
        for command, printed in re.findall(r"^\$ (isinglass .*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
    ]


def matches(printed: str, shown: str) -> bool:
    """Tell whether a text is what is shown, in which ... is anything within a line and lines that continue it."""
    pattern = r"[^\n]*(?:\n {8,}[^\n]*)*".join(re.escape(part) for part in shown.split("..."))
    return re.fullmatch(pattern, printed) is not None


@pytest.mark.parametrize("page", ["docs/cli.md", "README.md"])
def test_sessions(page, tmp_path, monkeypatch):
    for name in EXAMPLES:
        shutil.copy(ROOT / "examples" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    found = sessions(page)
    assert found
    for command, shown in found:
        printed = CliRunner().invoke(main, shlex.split(command)[1:]).output
        assert matches(printed, shown), f"$ {command}\n{printed}"
    written = (tmp_path / "mood" / "methods.txt").read_text(encoding="utf-8")
    whole = (ROOT / page).read_text(encoding="utf-8")
    for text in re.findall(r"^```text\n(A pairwise .*?)^```", whole, re.MULTILINE | re.DOTALL):
        assert matches(" ".join(written.split()), " ".join(text.split())), written


def mentions(text: str) -> list[tuple[str, str]]:
    """Return the commands that a text mentions, each with its options; a command ends with its line or its quote."""
    named = "|".join(COMMANDS)
    return [
        (command, option)
        for command, rest in re.findall(rf"isinglass ({named})\b([^`\n]*(?:\n[^`\n]+)?`|[^`\n]*)", text)
        for option in re.findall(r"(?<!\w)--?[a-zA-Z][\w-]*", rest)
    ]


def test_pages_mention_options_that_their_commands_have():
    found = set()
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for command, option in mentions(page.read_text(encoding="utf-8")):
            params = main.get_command(None, command).params
            known = {"-h", "--help"}.union(*(each.opts + each.secondary_opts for each in params))
            assert option in known, f"{page.name}: isinglass {command} {option}"
            found.add(option)
    assert {"--groups", "--attributes", "-o", "--rows"} <= found
    assert mentions("`isinglass fit x --by y` and\n$ isinglass plot k -x\n") == [("fit", "--by"), ("plot", "-x")]


def test_sessions_can_fail():
    assert matches("1 edge in 3 ms\n", "1 edge in ...\n")
    assert matches("Time        more than 2 s\n            (took longer)\nRows  3\n", "Time        ...\nRows  3\n")
    assert not matches("2 edges in 3 ms\n", "1 edge in ...\n")
    assert not matches("1 edge\nin 3 ms\n", "1 ... ms\n")


def test_the_example_is_what_its_script_makes(tmp_path):
    runpy.run_path(str(ROOT / "examples" / "mood.py"))["write_mood"](tmp_path)
    for name in EXAMPLES:
        assert (tmp_path / name).read_bytes() == (ROOT / "examples" / name).read_bytes()
    assert files("isinglass.app").joinpath("mood.csv").read_bytes() == (tmp_path / "mood.csv").read_bytes()
