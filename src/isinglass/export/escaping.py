"""Names as CSV, JSON and XML can hold them.

Names are kept wherever the format allows. Lone surrogates become U+FFFD. XML has no control characters but tab and line
feed (a carriage return is read as one): the others become their pictures (U+0000 becomes U+2400 ␀).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeAlias

Cell: TypeAlias = str | float | int | bool | None

_SURROGATES = re.compile("[\ud800-\udfff]")
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}
_NEEDS_QUOTES = re.compile(r'[,"\r\n]|^$|^\s|\s$')


def storable(text: str) -> str:
    """Return the text with every lone surrogate replaced by U+FFFD: it can be written as UTF-8."""
    return _SURROGATES.sub("\ufffd", text)


def xml_characters(text: str) -> str:
    """Return the text with pictures of the control characters that XML does not allow, even escaped."""
    return storable(text).translate(_PICTURES)


def value_text(value: Cell, infinity: str = "Infinity") -> str:
    """Return a value as text: numbers with the fewest digits that read back as the same, "true" and "false".

    ``Infinity`` is understood by Java (Gephi, Cytoscape), Python and C alike, unlike ``INF``.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).replace("inf", infinity)


def csv_line(values: Iterable[Cell]) -> str:
    """Return one line of a CSV file without its end, quoted as RFC 4180 says where needed.

    An empty text is ``""``, a missing value nothing.
    """
    return ",".join(map(_csv_field, values)) or '""'  # no empty line


def _csv_field(value: Cell) -> str:
    if not isinstance(value, str):
        return "" if value is None else value_text(value, "inf")
    text = storable(value)
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text
