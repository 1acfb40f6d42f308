import csv
import io
import math
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from isinglass.export import escaping as text

PICTURES = "␀␁␂␃␄␅␆␇␈␋␌␍␎␏␐␑␒␓␔␕␖␗␘␙␚␛␜␝␞␟\ufffd"
CONTROLS = [chr(code) for code in range(32) if chr(code) not in "\t\n\r"]
anything = st.text(st.characters(exclude_categories=[]))  # lone surrogates, too


def legal_in_xml(character):
    """Tell what the Char production of XML 1.0 allows."""
    code = ord(character)
    return character in "\t\n\r" or 0x20 <= code < 0xD800 or 0xE000 <= code < 0xFFFE or code > 0xFFFF


@given(anything)
def test_xml_parses_and_keeps_what_xml_can_hold(value):
    element = ElementTree.Element("a", b=text.xml_characters(value))
    element.text = text.xml_characters(value)
    parsed = ElementTree.fromstring(ElementTree.tostring(element))  # fails on any character that XML does not allow
    assert parsed.get("b") == (parsed.text or "")
    assert len(parsed.get("b")) == len(value)
    for kept, given_ in zip(parsed.get("b"), value, strict=True):
        assert kept == given_ if legal_in_xml(given_) and given_ != "\r" else kept in PICTURES


def test_control_characters_stay_different():
    shown = [text.xml_characters(control) for control in CONTROLS]
    assert len(set(shown)) == len(CONTROLS)
    assert shown[0] == "␀"
    assert text.xml_characters("␀") == shown[0]  # a picture that was there from the start is kept


@given(st.lists(anything, min_size=2, max_size=5))
def test_csv_is_read_back(values):
    line = text.csv_line(values)
    (row,) = csv.reader(io.StringIO(line + "\n", newline=""), strict=True)
    assert row == [text.storable(value) for value in values]


@given(anything)
def test_storable_text_can_be_encoded_and_text_is_kept(value):
    kept = text.storable(value)
    kept.encode("utf-8")
    assert len(kept) == len(value)
    if not any(0xD800 <= ord(character) < 0xE000 for character in value):
        assert kept == value


@given(st.floats(allow_nan=False))
def test_numbers_are_read_back(value):
    assert float(text.value_text(value)) == value
    assert float(text.csv_line([value])) == value


def test_empty_text_differs_from_missing():
    assert text.csv_line(["", None, 1]) == '"",,1'
    assert text.csv_line([None]) == '""'  # readers skip empty lines


def test_infinity_is_what_java_and_python_read():
    assert text.value_text(math.inf) == "Infinity"
    assert text.value_text(False) == "false"
