"""What messages add about a column: what its values look like, and what to do about it."""

from __future__ import annotations

import numpy as np

from isinglass.data.meaning.advice import advise_missing, remark_header, remark_identifier, remark_numbers
from isinglass.data.source import Source


def remark_column(source: Source, j: int) -> str:
    """Return what messages add about the values of a column, sentences or nothing."""
    values = source.column(j).distinct
    is_first = source.is_file and source.row_names is None and source.origin.places[j] == 0
    identifier = remark_identifier(len(values), source.shape[0], source.labels[j], is_first=is_first)
    missing = remark_header() if is_below_name(source, j) else advise_missing(j, source.labels, source.column)
    return missing + identifier + remark_numbers(values, source.decimal)


def is_below_name(source: Source, j: int) -> bool:
    """Tell whether the only text of a column is in the first row of a file without a header: it may be its name."""
    if source.layout.has_header is not False:
        return False
    column = source.column(j)
    texts = [value for value in column.distinct if isinstance(value, str)]
    if len(texts) != 1 or len(column.distinct) == 1:
        return False
    return np.flatnonzero(column.entries == texts[0]).tolist() == [0]
