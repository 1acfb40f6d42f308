"""What a source calls the values of a column: 1 is "men", 2 is "women"."""

from __future__ import annotations

from isinglass.data.column import Column
from isinglass.data.meaning.recognition import no_answers
from isinglass.data.meaning.values import Value


def answers_of(column: Column) -> dict[Value, Value]:
    """Return its labels in the order of the values, without those that stand for a missing cell and do not occur."""
    present = set(column.distinct)
    ordered = sorted(column.labels, key=lambda value: (isinstance(value, str), value))
    labels = {value: column.labels[value] for value in ordered if not column.is_gone(value)}
    return {value: label for value, label in labels.items() if value in present or not no_answers([label])}


def is_all_labeled(column: Column) -> bool:
    """Tell whether all values that occur have a label."""
    return bool(column.labels) and answers_of(column).keys() >= set(column.distinct)


def has_named_categories(column: Column) -> bool:
    """Tell whether labels are its categories: every value has one, and they are not those of 0 and 1."""
    present, answers = set(column.distinct), answers_of(column)
    are_bits = present <= {0, 1} and (not present or 0 in answers or answers.keys() <= {0, 1})
    return is_all_labeled(column) and not are_bits


def use_labels(column: Column) -> Column:
    """Return the column with labels in place of its values, which all have one."""
    answers = answers_of(column)
    values = [answers.get(value) for value in column.values or ()]
    return Column(column.cells, values, categories=tuple(dict.fromkeys(answers.values())))
