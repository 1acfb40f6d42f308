"""Any name as a text that a file can hold: what is escaped, what is replaced, and how.

Names are kept as they are wherever the format allows. Lone surrogates, which are no text, become U+FFFD in every
format. XML has no control characters but tab, line feed and carriage return: the others become their pictures (U+0000
becomes U+2400 ␀), which differ from each other. Two names can become equal all the same, if they differ in surrogates
only or if one held the picture from the start; nothing depends on it, as nodes are identified by numbers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from xml.sax.saxutils import escape

_SURROGATES = re.compile("[\ud800-\udfff]")
_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n\r"}
_PICTURES |= {0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}
# Written as they are, a parser would turn these into spaces (in attributes) or line feeds (in text).
_REFERENCES = {'"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_NEEDS_QUOTES = re.compile(r'[,"\r\n]|^$|^\s|\s$')
_FORMULA = re.compile(r"[=+\-@\t\r]")


def storable(text: str) -> str:
    r"""Return the text with every lone surrogate replaced by U+FFFD, so that it can be written as UTF-8.

    Examples
    --------
    >>> storable("caf\udce9")
    'caf�'
    """
    return _SURROGATES.sub("\ufffd", text)


def xml_text(text: str) -> str:
    r"""Return the text escaped for an attribute or an element of XML.

    Examples
    --------
    >>> xml_text('<"R&D">'), xml_text("a\x00b")
    ('&lt;&quot;R&amp;D&quot;&gt;', 'a␀b')
    """
    return escape(storable(text).translate(_PICTURES), _REFERENCES)


def xml_element(name: str, attributes: Mapping[str, str], *, closed: bool = True) -> str:
    """Return a tag with its attributes escaped, closed by default.

    Examples
    --------
    >>> xml_element("node", {"id": "n0", "label": "R&D"})
    '<node id="n0" label="R&amp;D"/>'
    """
    inside = "".join(f' {key}="{xml_text(value)}"' for key, value in attributes.items())
    return f"<{name}{inside}{'/' if closed else ''}>"


def number_text(value: float, infinity: str = "Infinity") -> str:
    """Return the shortest text that reads back as the same number.

    ``Infinity`` is understood by Java (Gephi, Cytoscape), Python and C alike, unlike ``INF``.

    Examples
    --------
    >>> number_text(0.1), number_text(-float("inf")), number_text(3)
    ('0.1', '-Infinity', '3')
    """
    if isinstance(value, float) and value in (float("inf"), -float("inf")):
        return infinity if value > 0 else f"-{infinity}"
    return repr(value)


def cell_text(value: str | float | int | bool) -> str:
    """Return a value as XML has it, not escaped yet.

    Examples
    --------
    >>> cell_text(True), cell_text(0.5), cell_text("R&D")
    ('true', '0.5', 'R&D')
    """
    if isinstance(value, str):
        return value
    return str(value).lower() if isinstance(value, bool) else number_text(value)


def csv_text(text: str, *, spreadsheet_safe: bool = False) -> str:
    """Return one field of text, quoted as RFC 4180 says where it has to be; an empty text is ``""``.

    Examples
    --------
    >>> csv_text('say "yes", now'), csv_text("=1+1", spreadsheet_safe=True)
    ('"say ""yes"", now"', "'=1+1")
    """
    text = storable(text)
    if spreadsheet_safe and _FORMULA.match(text):
        text = "'" + text
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def csv_line(values: list[str | float | int | bool | None], *, spreadsheet_safe: bool = False) -> str:
    """Return one line of a CSV file without its end; missing values are empty fields.

    Examples
    --------
    >>> csv_line(["a, b", 0.5, None, True])
    '"a, b",0.5,,true'
    """
    fields = []
    for value in values:
        if isinstance(value, str):
            fields.append(csv_text(value, spreadsheet_safe=spreadsheet_safe))
        elif value is None:
            fields.append("")
        else:
            fields.append(str(value).lower() if isinstance(value, bool) else number_text(value, "inf"))
    return ",".join(fields)
