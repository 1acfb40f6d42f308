"""The frame of every command, and the options that several of them share."""

from __future__ import annotations

import copy
import functools
import math
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from isinglass.cli.console import Console
from isinglass.cli.exits import Failure, discard_output
from isinglass.cli.settings import longest, spell_value

__all__ = ["ALPHAS", "IN_FILE", "OUT_FILE", "OUT_FOLDER", "Bundle", "Number", "Option", "command"]

Function = Callable[..., None]

GENERAL = "General"
NOT_REPRODUCED = {"output", "force", "quiet", "verbose", "as_json", "n_jobs"}
"""Options that change nothing in a result."""

IN_FILE = click.Path(exists=True, dir_okay=False, allow_dash=True)
MODEL_FILE = click.Path(exists=True, dir_okay=False)
OUT_FILE = click.Path(dir_okay=False, allow_dash=True)
OUT_FOLDER = click.Path(file_okay=False, path_type=Path)


class Number(click.FloatRange):
    """A finite number, within bounds if there are some."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse NaN and infinity, which are within all bounds or have none."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value!r} is not a finite number.", param, ctx)
        return number


class Option(click.Option):
    """An option with the heading under which the help lists it."""

    def __init__(self, *names: str, section: str = "Options", **attributes: Any) -> None:
        if isinstance(attributes.get("type"), click.IntRange | click.FloatRange):
            attributes.setdefault("metavar", "N")
        super().__init__(list(names), **attributes)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Leave out the range, which the message about a wrong value states."""
        extra: dict[str, Any] = {**super().get_help_extra(ctx)}
        extra.pop("range", None)
        return extra

    def under(self, section: str) -> Option:
        """Return the same option under another heading."""
        moved = copy.copy(self)
        moved.section = section
        return moved


@dataclass(frozen=True)
class Bundle:
    """Options that travel together: the command gets one argument, ``make`` of their values.

    Parameters
    ----------
    name : str
        Name of that argument.
    make : callable
        Takes the values by name.
    options : sequence of Option
        What the user may set.
    """

    name: str
    make: Callable[..., Any]
    options: Sequence[Option]


class Command(click.Command):
    """A command whose help lists the options under their headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per heading, in order of appearance, the general options last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if row is not None:
                sections.setdefault(getattr(parameter, "section", GENERAL), []).append(row)
        general = sections.pop(GENERAL, [])
        for heading, rows in [*sections.items(), (GENERAL, general)]:
            with formatter.section(heading):
                formatter.write_dl(rows)


def command(
    name: str,
    *parameters: click.Parameter,
    bundles: Iterable[Bundle] = (),
    strict: bool = False,
    as_json: bool = True,
) -> Callable[[Function], Command]:
    """Make a command of ``function(console, **options)``.

    Parameters
    ----------
    name : str
        What the user types.
    *parameters : click.Parameter
        Arguments and options of its own.
    bundles : iterable of Bundle
        Shared ones.
    strict : bool
        Whether it fits anything, so that there is a tolerance to miss.
    as_json : bool
        Whether its result can be one JSON object.

    Returns
    -------
    callable
        The decorator.
    """
    taken = tuple(bundles)

    def decorate(function: Function) -> Command:
        @functools.wraps(function)
        def run(quiet: int, verbose: int, as_json: bool = False, strict: bool = False, **options: Any) -> None:
            console = Console(quiet, verbose, as_json=as_json, strict=strict)
            with console.listening():
                try:
                    for bundle in taken:
                        values = {str(option.name): options.pop(str(option.name)) for option in bundle.options}
                        options[bundle.name] = bundle.make(**values)
                    function(console, **options)
                except BrokenPipeError:
                    raise click.exceptions.Exit(discard_output()) from None
                except Exception as error:
                    if verbose >= 2:
                        traceback.print_exc()
                    if isinstance(error, click.ClickException | click.exceptions.Exit | click.Abort):
                        raise
                    raise Failure(error) from None

        shared = [option for bundle in taken for option in bundle.options]
        general = [
            *([_STRICT] if strict else []),
            *([_JSON] if as_json else []),
            Option("-q", "--quiet", count=True, section=GENERAL, help="No summary, no progress; -qq: no warnings."),
            Option("-v", "--verbose", count=True, section=GENERAL, help="Say more; -vv: details, and tracebacks."),
        ]
        return Command(
            name,
            callback=run,
            params=[*parameters, *shared, *general],
            help=(function.__doc__ or "").replace("\\b", "\b"),  # click's mark of a paragraph that keeps its lines
            context_settings={"help_option_names": ["-h", "--help"]},
        )

    return decorate


_STRICT = Option("--strict", is_flag=True, section=GENERAL, help="Fail with exit code 4 if a fit misses its tolerance.")
_JSON = Option("--json", "as_json", is_flag=True, section=GENERAL, help="Print the result as one JSON object.")


class AlphasType(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.4 on
    """A number of alphas, or the alphas themselves, separated by commas."""

    name = "alphas"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what stands for the value in the help."""
        return "COUNT|A,B,…"

    def spell(self, value: Any) -> str:
        """Return the text that stands for a value."""
        return ",".join(map(repr, value)) if isinstance(value, list) else str(value)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int | list[float]:
        """Read "30" as a count, and "0.1" or "0.1,0.05" as values."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return]  # the default
        try:
            if value.strip().isdecimal() and int(value) > 0:
                return int(value)
            values = [float(part) for part in value.split(",")]
        except ValueError:
            values = []
        positive = all(math.isfinite(number) and number >= 0 for number in values)
        if not values or not positive or len(set(values)) < len(values) or value.strip() == "0":
            self.fail(f"{value!r} is neither a count such as 30 nor different values such as 0.1,0.05.", param, ctx)
        return values


def was_given(name: str) -> bool:
    """Tell whether the user set this parameter of the running command."""
    return click.get_current_context().get_parameter_source(name) == ParameterSource.COMMANDLINE


def command_line() -> list[str]:
    """Return the words that repeat the running command: what the user gave, less where the files go and who watches."""
    ctx = click.get_current_context()
    words, names = [], []
    for parameter in ctx.command.params:
        name = str(parameter.name)
        if name in NOT_REPRODUCED or not was_given(name):
            continue
        value = ctx.params[name]
        values = [spell_value(parameter, item) for item in (value if isinstance(value, tuple) else (value,))]
        if isinstance(parameter, click.Argument):
            names += values
        elif parameter.is_flag:  # type: ignore[attr-defined]
            words.append(longest(parameter.opts if value else parameter.secondary_opts))
        else:
            words += [word for item in values for word in (longest(parameter.opts), item)]
    return ["isinglass", str(ctx.command.name), *names, *words]


ALPHAS = AlphasType()
SEED = Option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of everything random.")
JOBS = Option(
    *("-j", "--n-jobs"),
    type=int,
    default=-1,
    show_default=True,
    help="Fits at the same time; -1: one per core. The result does not depend on it.",
)
FORCE = Option("--force", is_flag=True, help="Replace files that isinglass did not write.")


def out_folder(files: str) -> Option:
    """Return the option -o of a command that writes several files."""
    return Option(
        "-o",
        "--output",
        type=OUT_FOLDER,
        metavar="DIR",
        help=f"Write {files} into this folder; beside them run.json, which says how they were made.",
    )
