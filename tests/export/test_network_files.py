import io
from pathlib import Path

import pytest

from isinglass import Network
from isinglass.errors import DataError
from isinglass.export import network_files, write_network

MODEL = Network.from_couplings([[0, 1.5, 0], [1.5, 0, -1], [0, -1, 0]], [0, 0, 0], names=["a", "b", "c"])
OPTIONS = {
    "node_attributes": {"party": ["R", "D", "R"]},
    "edge_attributes": {"f": [0.1, 0.2]},
    "color_by": "party",
    "group_colors": {"R": "red"},
    "positions": [[0, 0], [1, 1], [2, 0]],
}


def text(format):
    stream = io.StringIO()
    write_network(MODEL, stream, format)
    return stream.getvalue()


@pytest.mark.parametrize(("name", "format"), [("n.csv", "edges"), ("n.GEXF", "gexf"), ("n.json", "json")])
def test_the_ending_chooses(tmp_path, name, format):
    for path in (tmp_path / name, str(tmp_path / f"as-text-{name}")):
        write_network(MODEL, path)
        assert Path(path).read_text(encoding="utf-8") == text(format)


def test_a_given_format_wins(tmp_path):
    write_network(MODEL, tmp_path / "matrix.csv", "matrix")
    assert (tmp_path / "matrix.csv").read_text() == text("matrix") != text("edges")


@pytest.mark.parametrize("format", [*network_files.ROWS, *network_files.LINES])
def test_all_options_go_to_all_formats(format):
    plain, full = io.StringIO(), io.StringIO()
    write_network(MODEL, plain, format)
    write_network(MODEL.with_names(["A", "B", "C"]), full, format, **OPTIONS)
    assert plain.getvalue() != full.getvalue()


@pytest.mark.parametrize("path", ["network.txt", "network", "-"])
def test_unknown_endings(path):
    with pytest.raises(DataError, match=r"path must end in .csv, .md, .tex, .gexf"):
        write_network(MODEL, path)


def test_unknown_formats():
    with pytest.raises(DataError, match="format must be one of"):
        write_network(MODEL, "n.csv", "xlsx")


@pytest.mark.parametrize("path", [3, None, ["n.csv"]])
def test_what_is_no_path(path):
    with pytest.raises(DataError, match='path must be a path, "-" or a text stream'):
        write_network(MODEL, path, "gexf")
