"""What the tests of the command line share: running it, in process and as a process, and small tables."""

from __future__ import annotations

import csv
import inspect
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result

from isinglass import simulate
from isinglass.cli import main

NAMES = ["tea", "milk, cold", "<sugar>", "lemon", "rum & cola", "water"]


def invoke(*words: object, stdin: str | bytes | None = None) -> Result:
    """Run the command line in this process."""
    apart = {"mix_stderr": False} if "mix_stderr" in inspect.signature(CliRunner).parameters else {}  # to click 8.1
    return CliRunner(**apart).invoke(main, [str(word) for word in words], input=stdin)


def run(*words: object, stdin: str | bytes | None = None, code: int = 0) -> Result:
    """Run it and expect an exit code."""
    result = invoke(*words, stdin=stdin)
    assert result.exit_code == code, (result.exit_code, result.stdout, result.stderr, result.exception)
    assert "Traceback" not in result.stderr
    return result


def run_process(
    *words: object, stdin: str = "", code: int = 0, **changes: str | None
) -> subprocess.CompletedProcess[str]:
    """Run it as a process of its own, with changes of the environment (None removes), and expect an exit code."""
    environment = {name: value for name, value in {**os.environ, **changes}.items() if value is not None}
    result = subprocess.run(
        [sys.executable, "-m", "isinglass", *map(str, words)],
        input=stdin,
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert result.returncode == code, (result.returncode, result.stdout, result.stderr)
    assert "Traceback" not in result.stderr
    return result


def error_line(result: Result | subprocess.CompletedProcess[str]) -> str:
    """Return the one line that says what is wrong."""
    lines = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1
    return lines[0]


def data_error(*words: object, stdin: str | bytes | None = None, code: int = 3) -> str:
    """Run a command that must refuse its data, with nothing on stdout and one line on stderr."""
    result = run(*words, stdin=stdin, code=code)
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    return error_line(result)


def draw_rows(n_rows: int = 300, n_columns: int = 6) -> np.ndarray:
    """Return a table in which neighbors go together."""
    model = simulate.chain_network(n_columns, strength=2.0, fields="balanced")
    return simulate.exact_sample(model, n_rows, random_state=1)


def write_csv(path: Path, header: list[str], rows: object) -> Path:
    """Write a table."""
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerows([header, *rows])
    return path


def write_table(path: Path, n_rows: int = 300) -> Path:
    """Write the usual table."""
    return write_csv(path, NAMES, draw_rows(n_rows).tolist())


def read_csv(text: str) -> list[dict[str, str]]:
    """Return the rows of a CSV text by name."""
    return list(csv.DictReader(io.StringIO(text)))


def read_json(text: str, command: str) -> dict[str, object]:
    """Return the one object of a command's --json, after a look at its schema."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    record = json.loads(text, parse_constant=refuse)
    assert record["schema"] == f"isinglass/{command}/1"
    assert record["version"]
    assert isinstance(record["warnings"], list)
    return record


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the content of all files, hidden ones included."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
