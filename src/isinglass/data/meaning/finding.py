"""The first reading of a table: the coding that options and values give, and guesses about columns without any."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from isinglass.data.meaning.coding import Coding, Guess, Layout
from isinglass.data.meaning.find_rules import find_rules
from isinglass.data.meaning.guards import check_guesses
from isinglass.data.meaning.guessing import guess_kinds
from isinglass.data.meaning.specify import specify
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.options import ValueOptions
from isinglass.data.source import Source
from isinglass.errors import DataError


@dataclass(frozen=True, eq=False)
class Finding:
    """The coding of a first reading, and what checks of its meaning ask about."""

    coding: Coding
    specs: Sequence[ColumnSpec]  # of its columns
    levels: Sequence[int]  # those of them that have categories, as the user says or the source declares
    guesses: Mapping[Hashable, Guess]  # about all columns, left out ones included


def find_coding(source: Source, stated: ValueOptions) -> Finding:
    """Return how a table is to be read: by what is stated, and what its columns show."""
    specs = specify(source, stated)
    guesses = guess_kinds(specs) if stated.guess else {}
    if guesses:
        specs = _keep_guessed(specs, guesses)
    rules, levels = find_rules(specs, drops_rows=stated.missing == "drop")
    covariate = tuple(spec.is_covariate for spec in specs) if stated.covariates else ()
    places = [spec.place for spec in specs]
    names = None if source.names is None else tuple(source.names[j] for j in places)
    coding = Coding(names, tuple(rules), stated.missing, covariate, _lay_out(source, places))
    return Finding(coding, specs, levels, guesses)


def _lay_out(source: Source, places: Sequence[int]) -> Layout:
    """Return the layout of the columns of a source at some places."""
    origin, called = source.origin, source.layout.names
    numbers = tuple(origin.places[j] for j in places)
    are_all = numbers == tuple(range(origin.width))
    return replace(
        source.layout,
        numbers=None if are_all else numbers,
        width=None if are_all else origin.width,
        names=called and tuple(called[j] for j in places),
    )


def _keep_guessed(specs: list[ColumnSpec], guesses: Mapping[Hashable, Guess]) -> list[ColumnSpec]:
    """Return the columns that are kept, with the kinds that were stated or are guessed; warn about the others."""
    guessed = [replace(spec, kind=guesses[spec.label].kind) if spec.label in guesses else spec for spec in specs]
    kept = [spec for spec in guessed if spec.kind is not None or spec.label not in guesses]
    if not kept:
        told = "in this table every column seems to name its rows or to be empty"
        raise DataError(f"A network needs at least two columns; {told}. State the kinds of those that are variables.")
    check_guesses(specs, guesses)
    return kept
