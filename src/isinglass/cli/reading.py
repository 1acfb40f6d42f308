"""How a table is read: the options of ``read_table``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.console import Console
from isinglass.cli.options import Bundle, Option

if TYPE_CHECKING:
    from isinglass.binary import BinaryTable

__all__ = ["READING", "Reading"]


class EncodeType(click.ParamType):
    """What the two answers mean: ``Yes=1,No=0``, or ``auto``."""

    name = "encode"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return what stands for the value in the help."""
        return "auto|YES=1,NO=0"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read ``answer=1`` pairs; an answer that is worth nothing is missing."""
        if not isinstance(value, str) or value == "auto":
            return value
        meanings: dict[str, int | None] = {}
        for part in value.split(","):
            answer, equals, bit = part.rpartition("=")
            if not equals or bit not in ("0", "1", "") or answer in meanings:
                self.fail(f"{value!r} is neither auto nor a list such as Yes=1,No=0,Unknown=.", param, ctx)
            meanings[answer] = int(bit) if bit else None
        return meanings
