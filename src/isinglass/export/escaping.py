"""Escaping of names for CSV and XML.

Names are kept wherever the format allows. Lone surrogates become U+FFFD. XML has no control characters but tab, line
feed and carriage return: the others become their pictures (U+0000 becomes U+2400 ␀).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

from isinglass.names import unused_name

_SURROGATES = re.compile("[\ud800-\udfff]")
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"}
_PICTURES |= {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}
# Written as they are, a parser would turn these into spaces (in attributes) or line feeds (in text).
_REFERENCES = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_NEEDS_QUOTES = re.compile(r'[,"\r\n]|^$|^\s|\s$')
_FORMULA = re.compile(r"[=+\-@\t\r]")


def storable(text: str) -> str:
    """Return the text with every lone surrogate replaced by U+FFFD: it can be written as UTF-8."""
    return _SURROGATES.sub("\ufffd", text)


def xml_characters(text: str) -> str:
    """Return the text with pictures of the control characters that XML does not allow, even escaped."""
    return storable(text).translate(_PICTURES)


def xml_ids(names: Sequence[str]) -> list[str]:
    """Return different names as ids for XML: not empty, and with a number where they would become equal."""
    texts = {name: xml_characters(name) or "(no name)" for name in names}  # igraph refuses an empty id
    taken = {name for name, text in texts.items() if name == text}
    for name, text in texts.items():
        if name != text:
            texts[name] = unused_name(text, taken)
            taken.add(texts[name])
    return [texts[name] for name in names]


def xml_text(text: str) -> str:
    """Return the text escaped for an attribute or an element of XML."""
    return escape(xml_characters(text), _REFERENCES)


def xml_element(name: str, attributes: Mapping[str, str], *, closed: bool = True) -> str:
    """Return a tag with its attributes escaped, closed by default."""
    inside = "".join(f' {key}="{xml_text(value)}"' for key, value in attributes.items())
    return f"<{name}{inside}{'/' if closed else ''}>"


def value_text(value: str | float | int | bool | None, infinity: str = "Infinity") -> str:
    """Return a value as text: numbers with the fewest digits that read back as the same, "true" and "false".

    ``Infinity`` is understood by Java (Gephi, Cytoscape), Python and C alike, unlike ``INF``.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value).replace("inf", infinity)


def csv_field(value: str | float | int | bool | None, *, spreadsheet_safe: bool = False) -> str:
    """Return one field, quoted as RFC 4180 says where needed; an empty text is ``""``, a missing value nothing."""
    if value is None:
        return ""
    if not isinstance(value, str):
        return value_text(value, "inf")
    text = storable(value)
    if spreadsheet_safe and _FORMULA.match(text):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def csv_line(values: Iterable[str | float | int | bool | None], *, spreadsheet_safe: bool = False) -> str:
    """Return one line of a CSV file without its end."""
    return ",".join(csv_field(value, spreadsheet_safe=spreadsheet_safe) for value in values) or '""'  # no empty line
