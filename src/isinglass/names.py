"""Names of nodes: what nodes without one are called, and what belongs to which node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain, count
from typing import Any, TypeAlias

from isinglass.arguments import as_ordered
from isinglass.errors import ArgumentError, DataError


@lru_cache(maxsize=16)
def default_names(n_features: int) -> tuple[str, ...]:
    """Return ``x0``, ``x1``, …: what nodes without names are called."""
    return tuple(f"x{k}" for k in range(n_features))


def tidy_name(name: object) -> str:
    """Return a name of a column as text without blanks around it, and with one blank in place of several."""
    return " ".join(str(name).split())


def unused_name(name: str, taken: Collection[str]) -> str:
    """Return a name that is not taken: the same, or with the first number that makes it differ.

    Examples
    --------
    >>> unused_name("row", ["a", "b"]), unused_name("row", ["row", "row (2)"])
    ('row', 'row (3)')
    """
    return next(free for free in chain([name], (f"{name} ({k})" for k in count(2))) if free not in taken)


def check_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    """Return one distinct name per variable; those of `default_names` if there are none."""
    if names is None:
        return default_names(n_features)
    checked = tuple(as_ordered("names", names, "must be a list of strings, one per variable"))
    if len(checked) != n_features:
        raise DataError(f"names must have one entry per variable ({n_features}); got {len(checked)}.")
    for name in checked:
        if not isinstance(name, str):
            raise ArgumentError("names", "must be strings", name, "Use [str(name) for name in names].")
    refuse_repeated(checked)
    return tuple(str(name) for name in checked)  # plain str, not numpy.str_


def refuse_repeated(names: Sequence[str], what: str = "names", remedy: str = "") -> None:
    """Refuse a name that stands for two columns."""
    if len(set(names)) < len(names):
        ((repeated, _),) = Counter(names).most_common(1)
        raise DataError(f"{what} must be different from each other; got {repeated!r} twice.{remedy}")


NodeValues: TypeAlias = Mapping[str, object] | Iterable[object]  # by name or in order; a pandas Series by its labels


def by_node(values: NodeValues, names: Sequence[str], what: str) -> list[Any]:  # Any: values of the user
    """Return one value per node, in the order of the nodes.

    A mapping or a labeled series is joined by name, and nodes that it does not mention get None. Everything else
    is taken by position, as is a series whose index only counts its rows. Errors call the values ``what``.
    """
    is_in_order = hasattr(values, "__iter__") and not isinstance(values, str | Set)
    if not is_in_order or len(getattr(values, "shape", (0,))) != 1:
        raise ArgumentError(what, "must have one entry per node, by name or in order", values)
    listed = list(values.values() if isinstance(values, Mapping) else values)
    labels: Any = list(values) if isinstance(values, Mapping) else getattr(values, "index", None)
    if not hasattr(labels, "__len__"):  # of a list, a method
        labels = range(len(listed))
    return [None if place is None else listed[place] for place in _find_nodes(labels, names, what)]


def _find_nodes(labels: Sequence[object], names: Sequence[str], what: str) -> list[int | None]:
    """Return the place of every node among the labels of a series, a mapping or one side of a matrix."""
    # The numbers 0, 1, 2, … that pandas makes up are no names.
    counts: Any = labels
    if type(labels).__name__ in ("range", "RangeIndex") and (counts.start, counts.step) == (0, 1):
        if len(labels) != len(names):
            raise DataError(f"{what} must have one entry per node ({len(names)}); got {len(labels)}.")
        return list(range(len(names)))
    node = {name: k for k, name in enumerate(names)}
    if tuple(names) == default_names(len(names)):  # nodes without names go by their numbers, too
        node |= {str(k): k for k in range(len(names))}
    found: list[int | None] = [None] * len(names)
    for place, label in enumerate(labels):
        k = node.get(str(label), node.get(tidy_name(label)))
        if k is None or found[k] is not None:
            problem = f"{label!r}, which is not a node" if k is None else f"{label!r} twice"
            shown = ", ".join(map(repr, names[:3])) + (", …" if len(names) > 3 else "")
            raise DataError(
                f"{what} must be labeled by the names of the nodes ({shown}); got {problem}. "
                "Pass a plain list to assign values by position."
            )
        found[k] = place
    return found
