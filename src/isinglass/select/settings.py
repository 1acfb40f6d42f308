"""The base of all settings, frozen records that print, pickle and compare by their fields; how something is run."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from os import PathLike, fspath
from typing import Self, get_args, get_type_hints

import numpy as np

from isinglass.arguments import Options, check_count, check_flag, is_real, is_whole
from isinglass.arrays import AnyArray
from isinglass.data import Table
from isinglass.errors import ArgumentError, DataError, setting
from isinglass.network import Network
from isinglass.solve.alphas import alpha_grid
from isinglass.solve.device import check_device
from isinglass.variables import Variables

Alphas = int | float | Sequence[float] | AnyArray  # as model files hold them; functions take `AlphasLike`
_LONGEST = 300  # characters of a value that is its own identity
_UNSAID = ("read_by", "guesses", "rows", "row_names")  # of tables and variables: no result depends on them


@dataclass(frozen=True, eq=False, repr=False)
class Settings:
    """Base of frozen settings; two are equal if their fields and other attributes are, arrays by their content."""

    def __post_init__(self) -> None:
        """Take numbers as those of Python, and whole ones as floats where a field holds these: 1 and 1.0 are equal."""
        cls: type = type(self)
        for each in fields(self):
            value = getattr(self, each.name)
            plain = value.item() if isinstance(value, np.generic) else value
            if is_whole(plain) and each.name in _float_fields(cls):
                plain = float(plain)
            if plain is not value:
                object.__setattr__(self, each.name, plain)

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
        shown = (
            f"{name}={f'array of shape {value.shape}' if isinstance(value, np.ndarray) else repr(value)}"
            for name, value in self.changed().items()
        )
        return f"{type(self).__name__}({', '.join(shown)})"

    def changed(self) -> Options:
        """Return the fields that differ from their defaults."""
        defaults = {field.name: field.default for field in fields(self)}
        return {name: value for name, value in self.items().items() if identify(value) != identify(defaults[name])}


@cache
def _float_fields(settings: type) -> frozenset[str]:
    """Return the names of the fields that may hold a float and no whole number."""
    kinds = {name: get_args(hint) or (hint,) for name, hint in get_type_hints(settings).items()}
    return frozenset(name for name, each in kinds.items() if float in each and int not in each)


@dataclass(frozen=True, eq=False, repr=False)
class Run(Settings):
    """How something is computed.

    These settings do not change the result, with two exceptions: a device agrees only to the tolerance, and a time
    limit can end the search early.

    Parameters
    ----------
    n_jobs : int, optional
        Fits to run in parallel, as in joblib; -1 uses all cores.
    n_threads : int, optional
        Threads of the kernels; by default ISINGLASS_NUM_THREADS, otherwise all cores.
    device : str, optional
        Where joint fits run: "cpu", or a GPU such as "cuda".
    progress : bool, optional
        Whether to show a progress bar on stderr; by default only if that is a terminal.
    checkpoint : path, optional
        Folder for finished tasks, from which an interrupted run resumes.
    max_time : float, optional
        Seconds after which the two-stage estimate returns the best network found; ``Fit.selection.left_out`` says
        what there was no time for, such as the standard errors of an imputed table. None by default.
    """

    n_jobs: int | None = None
    n_threads: int | None = None
    device: str | None = None
    progress: bool | None = None
    checkpoint: str | PathLike[str] | None = None
    max_time: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.checkpoint is not None:
            object.__setattr__(self, "checkpoint", fspath(self.checkpoint))
        if self.max_time is not None and not (is_real(self.max_time) and self.max_time > 0):
            raise ArgumentError("max_time", "must be a positive number of seconds", self.max_time)
        if self.max_time is not None and self.checkpoint is not None:
            raise ArgumentError("max_time", "must be left out where a checkpoint resumes whole runs", self.max_time)
        if self.n_jobs is not None and (not is_whole(self.n_jobs) or self.n_jobs == 0):
            raise ArgumentError("n_jobs", "must be an integer other than 0", self.n_jobs, "-1 takes all cores.")
        if self.n_threads is not None:
            check_count("n_threads", self.n_threads, most=None)
        if self.device is not None:
            check_device(self.device)
        if self.progress is not None:
            check_flag("progress", self.progress)

    def deadline(self) -> float:
        """Return when a run that begins now has to end, by the clock `time.monotonic`."""
        return math.inf if self.max_time is None else time.monotonic() + self.max_time

    def refuse_max_time(self) -> None:
        """Refuse a time limit where many networks are estimated."""
        if self.max_time is not None:
            raise ArgumentError("max_time", "must be left out where many networks are estimated", self.max_time)

    def refuse_checkpoint(self) -> None:
        """Refuse a checkpoint where nothing is resumed."""
        if self.checkpoint is not None:
            raise ArgumentError("checkpoint", "must be left out where nothing can be resumed", self.checkpoint)

    def require_seed(self, random_state: object) -> None:
        """Refuse a checkpoint of draws that the next run does not repeat."""
        if self.checkpoint is not None and random_state is None:
            raise DataError("A checkpoint needs a random_state: without one, the next run has other draws.")

    def inside(self, n_threads: int | None = None) -> Run:
        """Return the settings of a fit inside one of many tasks: no progress, and these threads unless they are set."""
        return Run(n_threads=self.n_threads or n_threads, device=self.device, progress=False)


def identify(value: object, *, strictly: bool = False) -> str:
    """Return a text that two values share only if they are the same settings or the same data.

    Long ones and arrays are known by the digest of their content. What has no content, such as a generator that has a
    state, is known by its place in memory, or refused if ``strictly``.
    """
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.dtype.hasobject):
        return identify(value.tolist(), strictly=strictly)
    if value is None or isinstance(value, bool | int | float | str):
        text = repr(value)
    elif isinstance(value, np.ndarray):
        return f"{value.dtype.str} {value.shape} {_digest(np.ascontiguousarray(value).tobytes())}"
    elif isinstance(value, np.random.SeedSequence):
        text = f"SeedSequence({value.entropy}, {value.spawn_key})"
    elif isinstance(value, Settings):
        text = type(value).__name__ + identify({**value.items(), **vars(value)}, strictly=strictly)
    elif isinstance(value, Table | Network | Variables):
        parts = {each.name: vars(value).get(each.name) for each in fields(value) if each.name not in _UNSAID}
        return _digest(identify({name: part for name, part in parts.items() if part is not None}).encode())
    elif isinstance(value, Mapping):
        inside = (f"{key!r}: {identify(value[key], strictly=strictly)}" for key in sorted(value, key=str))
        text = f"{{{', '.join(inside)}}}"
    elif isinstance(value, tuple | list):
        text = f"({', '.join(identify(item, strictly=strictly) for item in value)})"
    elif strictly:
        raise DataError(
            f"a checkpoint identifies its run by the settings, and cannot tell one {type(value).__name__} from another "
            f"({str(value)[:80]!r}). Pass a seed instead of a generator, or no checkpoint."
        )
    else:
        text = f"{type(value).__qualname__} at {id(value)}"
    return text if len(text) <= _LONGEST else f"{text[:20]}… {_digest(text.encode(errors='surrogatepass'))}"


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


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
