"""Messages of the package, with the options of the running command in place of parameters."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from isinglass.errors import Setting

NOT_OPTIONS = {"X": "the table", "path": "the file"}


def spell(message: Any) -> str:
    """Return an error or a warning as one line that names options.

    Examples
    --------
    >>> from isinglass.errors import DataError, setting
    >>> option = click.Option(["--missing"], type=click.Choice(["zero", "drop"]))
    >>> with click.Context(click.Command("fit", params=[option])):
    ...     spell(DataError(f"{setting('X')} must have no missing cells. Choose {setting('missing', 'zero')}."))
    'the table must have no missing cells. Choose --missing zero.'
    """
    text = message.spelled(_as_option) if hasattr(message, "spelled") else str(message)
    return " ".join(text.split())


def option_of(name: str) -> click.Option | None:
    """Return the option of the running command that sets a parameter, if there is one."""
    ctx = click.get_current_context(silent=True)
    found = () if ctx is None else ctx.command.params
    return next((option for option in found if isinstance(option, click.Option) and option.name == name), None)


def _as_option(mention: Setting) -> str:
    option = option_of(mention.name)
    if option is None:
        return NOT_OPTIONS.get(mention.name, mention.python)
    if option.is_flag:
        return longest(option.secondary_opts if mention.value is False else option.opts)
    if not mention.has_value:
        return longest(option.opts)
    return f"{longest(option.opts)} {shlex.quote(spell_value(option, mention.value))}"


def spell_value(parameter: click.Parameter, value: Any) -> str:
    """Return the word of the command line that stands for a value."""
    text: str = getattr(parameter.type, "spell", str)(value)
    return text


def longest(names: list[str]) -> str:
    """Return the name of an option that says most."""
    return max(names, key=len)
