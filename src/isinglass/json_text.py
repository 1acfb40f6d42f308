"""The one writer of JSON; nothing heavy is loaded for it."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

JsonObject = dict[str, Any]  # Any: what `json_text` can write


def json_text(value: object, *, indent: int | None = None, compact: bool = False) -> str:
    """Return a value as strict JSON, on one line or indented; compact is ASCII without spaces.

    Floats that are not finite become null, records objects of their fields, and what JSON does not have text.
    """
    separators = (",", ":") if compact else None
    return json.dumps(
        _plain(value), indent=indent, ensure_ascii=compact, allow_nan=False, separators=separators, default=str
    )


def _plain(value: object) -> object:
    """Return records, arrays, tuples and numbers of NumPy as JSON has them."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
