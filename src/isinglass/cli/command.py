"""What all commands share: options from one table, the help, errors, and the words that repeat a run."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from isinglass.cli.console import Console, as_failure, discard_output
from isinglass.cli.grammar import spell_option
from isinglass.cli.options import GENERAL, OPTIONS, SECTIONS

Function = Callable[..., None]
NOT_REPEATED = {"output", "force", "quiet", "verbose", "as_json", "n_jobs", "device"}
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
        """Write one section per heading that has options."""
        headings = {option.name: heading for heading, options in SECTIONS.items() for option in options}
        sections: dict[str, list[tuple[str, str]]] = {heading: [] for heading in SECTIONS}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if row is not None:
                sections[headings.get(parameter.name, GENERAL)].append(row)
        for heading, rows in sections.items():
            if rows:
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
                    if isinstance(error, click.exceptions.Exit | click.Abort):
                        raise
                    raise as_failure(error) from None

        return Command(
            name,
            callback=run,
            params=[*arguments, *(OPTIONS[each] for each in (*names, *general.split(), "quiet", "verbose"))],
            help=(function.__doc__ or "").replace("\\b", "\b"),  # click's mark of a paragraph that keeps its lines
            context_settings={"help_option_names": ["-h", "--help"]},
        )

    return decorate


def command_line() -> list[str]:
    """Return the words that repeat the running command, without where the files go and how much is printed."""
    ctx = click.get_current_context()
    arguments, options = [], []
    for parameter in ctx.command.params:
        name, value = str(parameter.name), ctx.params[str(parameter.name)]
        if isinstance(parameter, click.Option):
            is_given = ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
            for each in value if parameter.multiple else [value]:
                options += spell_option(parameter, each) if is_given and name not in NOT_REPEATED else []
        elif value is not None:
            file = str(value).removesuffix("/model.npz")  # the folder stands for its model
            arguments.append(f"./{file}" if file.startswith("-") and file != "-" else file)  # no option
    return ["isinglass", str(ctx.command.name), *arguments, *options]
