"""The frame of every command, and the options that several of them share."""

from __future__ import annotations

import copy
import functools
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import click
from click.core import ParameterSource

from isinglass.cli.console import Console
from isinglass.cli.exits import Failure, discard_output, longest, spell_value
from isinglass.cli.values import IN_FILE, MODEL_FILE

Function = Callable[..., None]

GENERAL, ADVANCED = "General", "Advanced"
NOT_REPRODUCED = {"output", "force", "quiet", "verbose", "as_json", "n_jobs", "device"}
"""Options that change nothing in a result."""
HELP_NAMES = {"help_option_names": ["-h", "--help"]}


class Option(click.Option):
    """An option, the heading under which the help lists it, and its default in words.

    ``names`` are as click has them, separated by blanks; the parameter is called as the library calls it. ``otherwise``
    is what the library does if the option is not given. "Advanced" options are listed by --help-all only.
    """

    def __init__(self, names: str, type: Any, help: str, *, otherwise: Any = None, **attributes: Any) -> None:
        if isinstance(type, click.IntRange | click.FloatRange):
            attributes.setdefault("metavar", "N")
        attributes.setdefault("show_default", "default" in attributes)
        default = "" if otherwise is None else f"  [default: {otherwise}]"
        super().__init__(names.split(), type=type, help=help + default, **attributes)
        self.section, self.otherwise = "Options", otherwise

    def get_help_extra(self, ctx: click.Context) -> Any:
        """Leave out the range, which the message about a wrong value states."""
        extra: dict[str, Any] = {**super().get_help_extra(ctx)}
        extra.pop("range", None)
        return extra


def flag(names: str, help: str, **attributes: Any) -> Option:
    """Return an option without a value."""
    return Option(names, None, help, is_flag=True, **attributes)


def under(section: str, *options: Option) -> list[Option]:
    """Return options under a heading."""
    moved = [copy.copy(option) for option in options]
    for option in moved:
        option.section = section
    return moved


@dataclass(frozen=True)
class Bundle:
    """Options that travel together: the command gets one argument, ``make`` of their values."""

    name: str  # name of that argument
    make: Callable[..., Any]  # takes the values by name
    options: Sequence[Option]  # what the user may set


class Command(click.Command):
    """A command whose help lists the options under their headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per heading, in order of appearance, the general options last."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            row = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if row is not None:
                sections.setdefault(getattr(parameter, "section", GENERAL), []).append(row)
        sections[GENERAL] = sections.pop(GENERAL)
        advanced = sections.pop(ADVANCED, [])
        if advanced and ctx.meta.get("help_all"):
            sections[ADVANCED] = advanced
        for heading, rows in sections.items():
            with formatter.section(heading):
                formatter.write_dl(rows)


def _show_all(ctx: click.Context, parameter: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        ctx.meta["help_all"] = True
        click.echo(ctx.get_help())
        ctx.exit()


def command(
    name: str, *parameters: click.Parameter, bundles: Iterable[Bundle] = (), strict: bool = False, as_json: bool = True
) -> Callable[[Function], Command]:
    """Make a command of ``function(console, **options)``.

    ``parameters`` are its own arguments and options, ``bundles`` the shared ones. ``strict``: it fits something and can
    miss a tolerance. ``as_json``: its result can be one JSON object.
    """
    taken = tuple(bundles)

    def decorate(function: Function) -> Command:
        @functools.wraps(function)
        def run(quiet: int, verbose: int, as_json: bool = False, strict: bool = False, **options: Any) -> None:
            console = Console(name, quiet, verbose, as_json=as_json, strict=strict)
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

        every = [*parameters, *(option for bundle in taken for option in bundle.options)]
        general = [_QUIET, _VERBOSE]
        if as_json:
            general.insert(0, _JSON)
        if strict:
            general.insert(0, _STRICT)
        if any(getattr(each, "section", "") == ADVANCED for each in every):
            general.append(_HELP_ALL)
        return Command(
            name,
            callback=run,
            params=[*every, *under(GENERAL, *general)],
            help=(function.__doc__ or "").replace("\\b", "\b"),  # click's mark of a paragraph that keeps its lines
            context_settings=HELP_NAMES,
        )

    return decorate


_STRICT = flag("--strict", "Exit with code 4 if a fit misses its tolerance.")
_JSON = flag("--json as_json", "Print the result as one JSON object.")
_QUIET = Option("-q --quiet", None, "No summary or progress; -qq: no warnings.", count=True)
_VERBOSE = Option("-v --verbose", None, "Show the log; -vv: details and tracebacks.", count=True)
_HELP_ALL = flag(
    "--help-all", "Show this help with the advanced options.", is_eager=True, expose_value=False, callback=_show_all
)


def was_given(name: str) -> bool:
    """Tell whether the user set this parameter of the running command."""
    return click.get_current_context().get_parameter_source(name) == ParameterSource.COMMANDLINE


def command_line() -> list[str]:
    """Return the words that repeat the running command, without where the files go and how much is printed."""
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
        elif parameter.nargs > 1:
            words += [longest(parameter.opts), *values]
        else:
            words += [word for item in values for word in (longest(parameter.opts), item)]
    return ["isinglass", str(ctx.command.name), *names, *words]


TABLE = click.Argument(["table"], type=IN_FILE)
MODEL = click.Argument(["model"], type=MODEL_FILE)
SEED = Option("--seed random_state", click.IntRange(0), "Random seed.", default=0)
JOBS = Option("-j --n-jobs", int, "Fits to run in parallel; -1: one per core. Results do not depend on it.", default=-1)
OUT_TEXT = Option(
    "-o --output",
    click.Path(allow_dash=True),
    "Write to FILE instead of stdout.",
    default="-",
    show_default=False,
    metavar="FILE",
)
FORCE = flag("--force", "Replace files that isinglass did not write.")


def checkpoint_folder(tasks: str) -> Option:
    """Return the option --checkpoint of a command that runs many such tasks."""
    about = f"Keep finished {tasks} here; run the same command again to resume."
    return Option("--checkpoint", click.Path(file_okay=False), about, metavar="FOLDER")
