"""What all commands share: options from one table, the help, errors, and the words that repeat a run."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click

from isinglass.cli.console import Console
from isinglass.cli.exits import Failure, discard_output
from isinglass.cli.grammar import Option
from isinglass.cli.option_table import ADVANCED, GENERAL, HEADINGS, OPTIONS

Function = Callable[..., None]

NOT_REPRODUCED = {"output", "force", "quiet", "verbose", "as_json", "n_jobs", "device"}
"""Options that the words that repeat a command leave out; a device changes a result only within the tolerance."""


@dataclass(frozen=True)
class Bundle:
    """Options of which the command gets one argument: what ``make`` makes of their values."""

    name: str  # name of that argument
    make: Callable[..., Any]  # takes the values by name
    options: Sequence[str]  # names of the options


class Command(click.Command):
    """A command whose help lists its options under their headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per heading, in order of appearance, the general options last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if row is not None:
                sections.setdefault(HEADINGS.get(str(parameter.name), GENERAL), []).append(row)
        sections[GENERAL] = sections.pop(GENERAL)
        advanced = sections.pop(ADVANCED, [])
        if advanced and ctx.meta.get("help_all"):
            sections[ADVANCED] = advanced
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


def command(
    name: str, *arguments: click.Argument, bundles: Sequence[Bundle] = (), general: str = "as_json"
) -> Callable[[Function], Command]:
    """Make a command of ``function(console, …)``.

    Every other parameter of the function is one of the ``arguments``, one of the ``bundles``, or the option of that
    name in `OPTIONS`. ``general`` are the options that change what is printed, beside -q and -v.
    """

    def decorate(function: Function) -> Command:
        bundled: dict[str, Sequence[str]] = {bundle.name: bundle.options for bundle in bundles}
        bundled |= {str(argument.name): () for argument in arguments}  # which are no options
        _, *parameters = inspect.signature(function).parameters  # without the console
        names = [option for each in parameters for option in bundled.get(each, [each])]
        options = [OPTIONS[each] for each in (*names, *general.split(), "quiet", "verbose", "help_all")]

        @functools.wraps(function)
        def run(quiet: int, verbose: int, as_json: bool = False, strict: bool = False, **values: object) -> None:
            console = Console(name, quiet, verbose, as_json=as_json, strict=strict)
            with console.showing_warnings():
                try:
                    for bundle in bundles:
                        values[bundle.name] = bundle.make(**{name: values.pop(name) for name in bundle.options})
                    function(console, **values)
                except BrokenPipeError:
                    raise click.exceptions.Exit(discard_output()) from None
                except Exception as error:
                    if verbose >= 2:
                        traceback.print_exc()
                    if isinstance(error, click.ClickException | click.exceptions.Exit | click.Abort):
                        raise
                    raise Failure(error) from None

        return Command(
            name,
            callback=run,
            params=[*arguments, *options],
            help=(function.__doc__ or "").replace("\\b", "\b"),  # click's mark of a paragraph that keeps its lines
            context_settings={"help_option_names": ["-h", "--help"]},
        )

    return decorate


def command_line() -> list[str]:
    """Return the words that repeat the running command, without where the files go and how much is printed."""
    ctx = click.get_current_context()
    arguments, options = [], []
    for parameter in ctx.command.params:
        if isinstance(parameter, Option):
            options += parameter.as_written(ctx) if parameter.name not in NOT_REPRODUCED else []
        elif (file := ctx.params[str(parameter.name)]) is not None:
            name = str(file).removesuffix("/model.npz")  # the folder stands for its model
            arguments.append(f"./{name}" if name.startswith("-") and name != "-" else name)  # no option
    return ["isinglass", str(ctx.command.name), *arguments, *options]
