"""The command line: options become arguments, results become text. Only click is loaded until a command runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

import click

from isinglass.cli.console import EPILOG, color_wanted, report_error, report_signal
from isinglass.machine.signals import end_process, signals_noted
from isinglass.version import __version__

# Name -> the module that has the command, loaded when it is asked for.
COMMANDS = {
    "info": "info",
    "fit": "fit",
    "bootstrap": "resampling",
    "compare": "resampling",
    "report": "presentation",
    "plot": "presentation",
    "export": "presentation",
    "predict": "predict",
    "power": "resampling",
    "app": "start",
    "demo": "start",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are called, and whose errors become exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command, or return one that the app has added."""
        if cmd_name not in COMMANDS:
            return super().get_command(ctx, cmd_name)
        return getattr(import_module(f"isinglass.cli.{COMMANDS[cmd_name]}"), cmd_name)  # type: ignore[no-any-return]

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = "isinglass",
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,  # Any: as click has it
    ) -> Any:  # Any: as click has it
        """Run the command; every way to end has its exit code."""
        noting: AbstractContextManager[list[int]] = signals_noted() if standalone_mode else nullcontext([])
        with noting as noted:
            try:
                color = {"color": color_wanted()}
                code = super().main(args, prog_name, complete_var, standalone_mode=False, **color | extra)
                sys.stdout.flush()  # a reader that went away is noticed here, not by the interpreter at exit
            except BaseException as error:
                if not noted:
                    if not isinstance(error, Exception):
                        raise
                    code = report_error(error)
            if noted:  # also where a library has caught the exception of a signal
                code = report_signal(noted[0])
        if standalone_mode:
            end_process(code)
        return code


HELP = """Sparse networks from tables: which variables depend on each other directly, with a certificate for every
solution.

Start with `isinglass demo`, or with a table of your own:

\b
  isinglass info votes.csv
  isinglass fit votes.csv -o network
  isinglass report network votes.csv -o report.html
"""


@click.group(
    "isinglass", cls=LazyGroup, help=HELP, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="isinglass")
def main() -> None:
    """Run a command."""
