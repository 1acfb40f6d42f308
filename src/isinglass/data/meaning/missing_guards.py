"""Warnings about values that probably stand for a missing answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from isinglass.data.meaning.advice import SHOWN, remark_header, say_missing, show_coded, subject, warn_about
from isinglass.data.meaning.recognition import suspected_answers
from isinglass.data.meaning.specs import ColumnSpec
from isinglass.data.meaning.values import Value, show_values


def find_suspects(specs: Sequence[ColumnSpec], places: Iterable[int]) -> dict[int, tuple[Value, ...]]:
    """Return the values in some columns that probably stand for a missing answer, by column."""
    columns = [j for j in places if not specs[j].source.is_name_above(specs[j].place)]
    return suspected_answers({j: specs[j].kept_values for j in columns}, {j: specs[j].column.labels for j in columns})


def guard_header(specs: Sequence[ColumnSpec], places: Iterable[int]) -> None:
    """Columns of a file without a header whose only text is in the first row."""
    columns = [j for j in places if specs[j].source.is_name_above(specs[j].place)]
    if columns:
        labels = [specs[j].label for j in columns]
        texts = show_values((specs[j].column.entries[0] for j in columns), SHOWN)
        text = f"{subject(labels, 'has')} text in the first row only ({texts}).{remark_header()}"
        warn_about(labels, "header?", text)


def guard_codes(specs: Sequence[ColumnSpec], suspects: Mapping[int, tuple[Value, ...]]) -> None:
    """Values that probably stand for a missing answer; columns with the same ones share a warning.

    The advice names the columns where another column has the same value as an answer.
    """
    if not suspects:
        return
    values_of = {j: spec.values for j, spec in enumerate(specs)}
    for codes in dict.fromkeys(suspects.values()):
        columns = [j for j, values in suspects.items() if values == codes]
        remedy = say_missing(codes, columns, [spec.label for spec in specs], values_of, suspects)
        others = dict.fromkeys(value for j in columns for value in specs[j].kept_values if value not in codes)
        labels = [specs[j].label for j in columns]
        shown = show_coded(codes, specs[columns[0]].column.labels)
        text = (
            f"{subject(labels, 'has')} {shown} besides {show_values(others)}. If "
            f"{'it stands' if len(codes) == 1 else 'they stand'} for a missing answer, use {remedy}."
        )
        warn_about(labels, f"{show_values(codes, 3)} missing?", text)
