"""The command line: options become arguments, results become text. Only click is loaded until a command runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

import click

from isinglass.cli.console import color_wanted
from isinglass.cli.exits import EPILOG, report_error, report_signal
from isinglass.machine.signals import end_process, signals_noted
from isinglass.version import __version__

# Name -> what the list of commands says about it. The command is in the module of the same name, loaded when asked for.
COMMANDS = {
    "info": "Check a table before fitting.",
    "fit": "Estimate the network of a table.",
    "bootstrap": "Assess edge stability by resampling.",
    "compare": "Test whether groups of rows have the same network.",
    "report": "Make an HTML page about a model.",
    "plot": "Draw a figure.",
    "export": "Convert a model for other programs.",
    "predict": "Predict cells, fill in missing ones, or score a table.",
    "power": "Estimate how many rows it takes to recover a network.",
    "app": "Analyze a table in the browser.",
    "demo": "Fit the U.S. Senate and a questionnaire.",
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
        return getattr(import_module(f"isinglass.cli.{cmd_name}"), cmd_name)  # type: ignore[no-any-return]

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
