"""The parts of the command line that can be looked at by themselves."""

import io
import json
import sys

import click
import pytest

from isinglass.cli import COMMANDS, main
from isinglass.cli.console import Console, format_seconds, spell
from isinglass.cli.fit import fit
from isinglass.errors import ArgumentError, ConvergenceWarning, DataError, setting

# ------------------------------------------------------------------------------------------- json


def test_every_schema_is_described_in_the_documentation():
    from test_readme import ROOT

    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    named = {name for name in COMMANDS if "as_json" in {each.name for each in main.get_command(None, name).params}}
    assert len(named) == 6
    for name in (*named, "score"):
        assert f"`isinglass/{name}/1`" in page


def test_json_has_no_nan(capsysbinary):
    import numpy as np

    record = {"a": np.array([1.0, np.nan]), "b": np.float64("inf"), "c": np.int64(3), "d": {"e": ()}}
    Console("score").write_json(record)
    found = json.loads(capsysbinary.readouterr().out)
    assert list(found)[:2] == ["schema", "version"]
    assert found["schema"] == "isinglass/score/1"
    assert (found["a"], found["b"], found["c"], found["d"]) == ([1.0, None], None, 3, {"e": []})


# ------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("mention", "wanted"),
    [
        (("X",), "the table"),
        (("missing", "drop"), "--missing drop"),
        (("encode", {0: 0, 1: 1, -9: None}), "--encode 0=0,1=1,-9="),
        (("encode", {"very much": 1, "no": 0}), "--encode 'very much=1,no=0'"),
        (("drop", [3]), "--drop '#4'"),
        (("columns", ["a", "b c"]), "--columns 'a,b c'"),
        (("id_column", 0), "--id-column '#1'"),
        (("header", False), "--no-header"),
        (("binarize", 0.5), "--binarize 0.5"),
        (("n_folds",), "--folds"),
        (("max_iter",), "max_iter in Python"),  # no option sets it
    ],
)
def test_messages_name_options(mention, wanted):
    message = DataError(f"Check {setting(*mention)}\n  first.")
    with click.Context(fit):
        assert spell(message) == f"Check {wanted} first."


def test_python_readers_see_parameters():
    mentions = (
        f"{setting('missing', 'drop')}, {setting('drop', [3])}, {setting('method', 'joint', python='ising_path')}"
    )
    assert str(DataError(mentions)) == 'missing="drop", drop=[3], ising_path'


def test_a_wrong_argument_carries_its_parts_and_travels():
    import pickle

    error = pickle.loads(pickle.dumps(ArgumentError("tol", "must be a positive number", -1, "Leave it out.")))
    assert (error.argument, error.constraint, error.got) == ("tol", "must be a positive number", "-1")
    assert str(error) == "tol must be a positive number; got -1. Leave it out."
    with click.Context(fit):
        assert spell(error) == "--tol must be a positive number; got -1. Leave it out."


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *[(1e-5, "under 1 ms"), (0.25, "250 ms"), (2.34, "2.3 s"), (59, "59.0 s")],
        *[(90, "1.5 min"), (7200, "2.0 h")],
    ],
)
def test_durations(seconds, text):
    assert format_seconds(seconds) == text


# ------------------------------------------------------------------------------------------- console


class Terminal(io.StringIO):
    """A stderr that somebody is watching."""

    def isatty(self):
        return True


def watch(monkeypatch) -> Terminal:
    """Put a terminal in place of stderr; not a fixture, because pytest changes stderr between setup and test."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return stream


def test_progress_is_shown_and_gone_after_an_error(monkeypatch):
    terminal = watch(monkeypatch)

    def work():
        with Console().progress("Working"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work()
    assert "Working" in terminal.getvalue()
    assert terminal.getvalue().endswith("\x1b[2K")  # the line of the bar is erased


def test_quiet_means_no_progress(monkeypatch):
    terminal = watch(monkeypatch)
    with Console(quiet=1).progress("Working"):
        assert terminal.getvalue() == ""


def test_a_warning_is_said_once_and_becomes_an_error_if_strict(capsys):
    import warnings

    console = Console()
    with console.showing_warnings():
        for _ in range(3):
            warnings.warn("missed", ConvergenceWarning, stacklevel=1)
    assert capsys.readouterr().err == "Warning: missed\n"
    assert console.warnings == ["missed"]
    with pytest.raises(ConvergenceWarning), Console(strict=True).showing_warnings():
        warnings.warn("missed", ConvergenceWarning, stacklevel=1)
