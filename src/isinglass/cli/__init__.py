"""The command line: parse, call, print; no logic. Nothing but click is loaded until a command runs."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click

from isinglass.cli.exits import EPILOG, INTERRUPTED, TERMINATED, report_error
from isinglass.version import __version__

__all__ = ["main"]

# Name -> what the list of commands says about it. The command is in the module of the same name, loaded when asked for.
COMMANDS = {
    "fit": "Estimate the network of a table.",
    "path": "Estimate it along decreasing penalties.",
    "select": "Show which penalty each criterion chooses.",
    "bootstrap": "Tell how far to trust the edges.",
    "info": "Describe a table before anything is fitted.",
    "score": "Score a table by a model.",
    "predict": "Predict every cell of a table, or fill the missing ones.",
    "plot": "Draw a figure.",
    "export": "Convert a model for other programs.",
    "report": "Make one HTML page of a model.",
    "simulate": "Draw a table from a random network.",
    "demo": "Fit the network of the U.S. Senate.",
    "completion": "Print the completion script of a shell.",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, and whose errors become exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = getattr(import_module(f"isinglass.cli.{cmd_name}"), cmd_name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = "isinglass",
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command; every way to end has its exit code."""
        if standalone_mode and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, _terminate)
        try:
            code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()  # a reader that went away is noticed here, not by the interpreter at exit
        except Exception as error:
            code = report_error(error)
        except _Terminated:
            code = TERMINATED
        if standalone_mode:
            _leave_if_busy(code)
            sys.exit(code)
        return code


class _Terminated(SystemExit):
    """SIGTERM came: what is open is closed on the way out."""


def _terminate(number: int, frame: object) -> None:
    raise _Terminated


def _leave_if_busy(code: Any) -> None:
    """End here if an interrupt has left kernels running in other threads: the interpreter would wait for them."""
    tasks = sys.modules.get("isinglass.select.tasks")
    if code in (INTERRUPTED, TERMINATED) and tasks is not None and tasks.running:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


HELP = """Sparse networks from tables of yes/no columns, with proof that the optimum was reached.

Start with `isinglass demo`, or with a table of your own:

\b
  isinglass info votes.csv
  isinglass fit votes.csv -o network
  isinglass report network/model.npz votes.csv -o report.html
"""


@click.group(
    "isinglass", cls=LazyGroup, help=HELP, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="isinglass")
def main() -> None:
    """Run a command."""
