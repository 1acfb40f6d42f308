"""What the page calls its controls: the page shows these words, and messages of commands mention a control by them."""

from __future__ import annotations

from isinglass.cli.grammar import spell_column
from isinglass.errors import Setting, join_words

LABELS = {
    "kinds": "Kind",
    "weights": "Weights of the rows",
    "weight_kind": "They are",
    "groups": "Groups to compare",
    "missing": "Missing cells",
    "na_values": "Codes for missing answers",
    "na_value": "is missing in",  # after a value, before its column
    "covariates": "Covariate",
    "drop": "Use",  # the boxes that are unticked
    "id_column": "The first column names the rows",
}
"""Of controls, by the arguments that they stand for."""
OPTIONS = {
    "kinds": {"binary": "two values", "ordinal": "ordered", "nominal": "unordered", "continuous": "number"},
    "missing": {"impute": "impute them", "drop": "leave out their rows", "zero": "read them as 0"},
    "weight_kind": {"": "counts if whole numbers", "sampling": "sampling weights", "counts": "counts of equal rows"},
}
"""Of controls that offer a choice, by the values of these arguments."""


def name_control(mention: Setting) -> str | None:
    """Return how a message mentions a control of the page; None for what the page has no control for."""
    value, name = mention.value, "groups" if mention.name == "labels" else mention.name
    if name == "na_values" and mention.has_value:
        of_all = {column: f"“{LABELS[name]}: {join_words(codes)}”" for column, codes in value.items() if column is None}
        return join_words(
            [
                of_all.get(column) or f"“{join_words(codes)} {LABELS['na_value']} {spell_column(column)}”"
                for column, codes in value.items()
            ]
        )
    named = value if isinstance(value, list | tuple) else [value]
    columns = join_words([spell_column(each) if isinstance(each, int) else str(each) for each in named])
    if name == "drop" and mention.has_value:  # a number is of a file that cannot be opened, with no boxes
        return None if isinstance(value, int) else f"untick {columns}"
    if name in OPTIONS["kinds"]:
        return f"“{LABELS['kinds']}: {OPTIONS['kinds'][name]}”" + (f" for {columns}" if mention.has_value else "")
    if name == "kinds" or name not in LABELS:
        return None
    chosen = OPTIONS.get(name, {}).get(str(value), columns)
    return f"“{LABELS[name]}: {chosen}”" if mention.has_value and name != "id_column" else f"“{LABELS[name]}”"
