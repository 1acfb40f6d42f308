"""The base of all settings, frozen records that print, pickle and compare by their fields; seeds and alphas in them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import FunctionType
from typing import Self

import numpy as np

from isinglass.arguments import Options, is_whole
from isinglass.arrays import AnyArray
from isinglass.data import Table
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.network import Network
from isinglass.solve.alphas import alpha_grid
from isinglass.variables import Variables

Alphas = int | float | Sequence[float] | AnyArray  # as model files hold them; functions take `AlphasLike`
_LONGEST = 300


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    """Base of frozen settings; two are equal if their fields are, arrays by their content."""

    def items(self) -> Options:
        """Return the fields by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def replace(self, **changes: object) -> Self:
        """Return the same settings but for some fields."""
        return replace(self, **changes)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and identify(self) == identify(other)

    def __hash__(self) -> int:
        return hash(identify(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={_show(value)}' for name, value in self.changed().items())})"

    def changed(self) -> Options:
        """Return the fields that differ from their defaults."""
        defaults = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in self.items().items() if identify(value) != identify(defaults[name])}


def identify(value: object, *, strictly: bool = False) -> str:
    """Return a text that two values share only if they are the same settings or the same data.

    Arrays and tables are known by the digest of their content, settings by their fields, functions by their names.
    What has none of these, such as a generator that has a state, is known by its place in memory, or refused if
    ``strictly``.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return _shorter(repr(value))
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return f"{value.dtype.str} {value.shape} {_digest(np.ascontiguousarray(value).tobytes())}"
    if isinstance(value, Settings):
        inside = [f"{name}={identify(item, strictly=strictly)}" for name, item in value.items().items()]
        return _shorter(f"{type(value).__name__}({', '.join(inside)})")
    if isinstance(value, Mapping):
        value = [(key, value[key]) for key in sorted(value, key=str)]
    if isinstance(value, tuple | list):
        return _shorter(f"({', '.join(identify(item, strictly=strictly) for item in value)})")
    if isinstance(value, np.ndarray):
        return identify(value.tolist(), strictly=strictly)
    if isinstance(value, np.random.SeedSequence):
        return f"SeedSequence({value.entropy}, {value.spawn_key})"
    if isinstance(value, Table | Network | Variables):
        names = [field.name for field in fields(value)]
        parts = {
            name: vars(value).get(name) for name in names if name not in ("read_by", "guesses", "rows", "row_names")
        }
        return _digest(identify({name: part for name, part in parts.items() if part is not None}).encode())
    name = getattr(value, "__qualname__", None)
    if isinstance(value, FunctionType | type) and name is not None and "<" not in name:
        return f"{value.__module__}.{name}"
    if strictly:
        raise DataError(
            f"a checkpoint identifies its run by the settings, and cannot tell one {type(value).__name__} from another "
            f"({str(value)[:80]!r}). Pass a seed instead of a generator, a function that has a name, or no checkpoint."
        )
    return f"{type(value).__qualname__} at {id(value)}"


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _shorter(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:20]}… {_digest(text.encode(errors='surrogatepass'))}"


def _show(value: object) -> str:
    return f"array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)


def seed_words(random_state: object) -> str:
    """Return the seed in words; a generator, or what stands for one that was not stored, has none."""
    return f", seed {random_state}" if is_whole(random_state) else ""


def are_given(alphas: Alphas) -> bool:
    """Tell whether alphas are given by value, and not by their number."""
    return np.ndim(alphas) > 0 or isinstance(alphas, float | np.floating)


def check_alphas(alphas: Alphas) -> Alphas:
    """Return a number of alphas or one alpha, and a list of them as a tuple, if they make a grid to choose from."""
    alpha_grid(1.0, alphas, alpha_min_ratio=0.01)
    if not are_given(alphas) and alphas == 1:
        remedy = f"Pass {setting('alphas', [1.0], python='[1.0]')} for the value, or a count of at least 2."
        raise ArgumentError("alphas", "must not be one value at the largest alpha, which has no edges", 1, remedy)
    values = np.asarray(alphas).tolist()
    return tuple(values) if isinstance(values, list) else values
