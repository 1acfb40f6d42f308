"""Tables for print: numbers rounded under headings, and no character that the format would run."""

import csv
import datetime
import io
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest

from isinglass import Method, Network, bootstrap, compare_groups, metrics
from isinglass.errors import DataError
from isinglass.export import write_network, write_table
from isinglass.select.criteria import compare_criteria
from isinglass.select.sample_size import sample_size

EDGES = {
    "source": ["a", "b_1"],
    "target": ["c & d", "50%"],
    "coupling": [-1.23456, 0.0004],
    "sign": [-1, 1],
    "weight": [1.23456, 0.0004],
    "std_error": [0.5, np.nan],
    "p": [1e-9, 0.25],
}


def text_of(table, format, **options):
    stream = io.StringIO()
    write_table(table, stream, format, **options)
    return stream.getvalue()


def test_markdown():
    head, rule, *rows = text_of(EDGES, "markdown").splitlines()
    assert head == "| Node | Neighbor | Edge weight | SE | p |"
    assert rule == "|---|---|---:|---:|---:|"
    assert rows == ["| a | c & d | −1.235 | 0.500 | < 0.001 |", "| b\\_1 | 50% | 0.000 |  | 0.250 |"]


@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("coupling in USA", "Edge weight in USA"),
        ("strength in first_born", "Strength in first_born"),
        ("expected_influence", "Expected influence"),
        ("p_structure", "p (structure)"),
        ("BMI", "BMI"),
        ("party_ID", "party_ID"),
        ("n11", "n11"),
    ],
)
def test_headings_keep_the_names_of_groups_and_of_users_columns(name, heading):
    assert next(csv.reader(io.StringIO(text_of({name: [1.0]}, "csv")))) == [heading]


def test_all_columns_of_ours_have_headings():
    X = np.random.default_rng(0).integers(0, 2, (60, 4))
    fit, network = Method().fit(X), Network.from_couplings(1 - np.eye(4), np.zeros(4))
    tables = [
        fit.edges(),
        fit.network.edges(),
        metrics.node_table(X, network),
        metrics.centrality(network, list("aabb")),
        bootstrap(X, Method(), n_boot=3).edges(),
        compare_groups(X, ["u", "v"] * 30, Method(), n_permutations=2).pairs(),
        sample_size(network, [30], n_repeats=1).sizes(),
        compare_criteria(X),
    ]
    for table in tables:
        (head,) = csv.reader([text_of(table, "csv").partition("\n")[0]])
        assert [name for name in head if "_" in name] == []


def test_columns_may_have_names_that_are_equal_as_texts():
    assert text_of({1: ["a"], "1": ["b"]}, "csv") == "1,1\na,b\n"


DAY, TIME = datetime.date(2006, 1, 2), datetime.datetime(2006, 1, 2, 12, 30)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([DAY, None], "2006-01-02"),
        (pd.Series([TIME, None]), "2006-01-02 12:30:00"),
        (pl.Series([TIME, None]), "2006-01-02 12:30:00"),
        (np.array([TIME, "NaT"], dtype="datetime64[ns]"), "2006-01-02 12:30:00"),
        (np.array([DAY, "NaT"], dtype="datetime64[D]"), "2006-01-02"),
        (np.array([90, "NaT"], dtype="timedelta64[s]").astype("timedelta64[ns]"), "0:01:30"),
        (pd.Series([pd.Timedelta(seconds=90), None]), "0 days 00:01:30"),
        (pl.Series([DAY, None]), "2006-01-02"),
        (pl.Series([TIME.time(), None]), "12:30:00"),
        (pl.Series([Decimal("1.23456"), None]), "1.235"),
    ],
    ids=lambda value: getattr(value, "dtype", value),
)
@pytest.mark.parametrize("format", ["csv", "markdown", "latex"])
def test_dates_and_times(values, shown, format):
    text = text_of({"name": ["a", "b"], "when": values}, format)
    assert shown in text
    if format == "csv":
        assert [row[1] for row in csv.reader(io.StringIO(text))] == ["when", shown, ""]


def test_names_that_look_like_numbers_stay_on_the_left():
    rule = text_of({"name": ["1", "2"], "coupling": [None, 0.5]}, "markdown").splitlines()[1]
    assert rule == "|---|---:|"


def test_csv_reads_back_as_rounded_numbers():
    (head, *rows) = csv.reader(io.StringIO(text_of(EDGES, "csv", digits=2)))
    assert head == ["Node", "Neighbor", "Edge weight", "SE", "p"]
    assert [float(row[2]) for row in rows] == [-1.23, 0.0]
    assert rows[0][4] == "< 0.01"


def test_names_keep_their_minus_signs_in_csv():
    _, row = csv.reader(io.StringIO(text_of({"name": ["x−y"], "coupling": [-0.5]}, "csv")))
    assert row == ["x−y", "-0.500"]


@pytest.mark.parametrize(("p", "shown"), [(0.0007, "< 0.001"), (0.00099, "< 0.001"), (0.001, "0.001")])
@pytest.mark.parametrize("column", ["p", "q", "p_value", "p_family", "p_strength"])
def test_p_values_below_the_last_digit_are_not_rounded_up(column, p, shown):
    assert text_of({"name": ["a"], column: [p]}, "markdown").splitlines()[-1] == f"| a | {shown} |"


@pytest.mark.parametrize("column", ["p_age", "q_1", "q2.5", "pp_values", "P"])
def test_other_numbers_are_not_taken_for_p_values(column):
    assert text_of({"name": ["a"], column: [0.0002]}, "markdown").splitlines()[-1] == "| a | 0.000 |"


def test_markdown_keeps_what_looks_like_markup():
    row = text_of({"name": ["&lt;b&gt; $x$ ~~y~~ R&D"]}, "markdown").splitlines()[-1]
    assert row == r"| \&lt;b\&gt; \$x\$ \~\~y\~\~ R&D |"


def test_whole_and_other_numbers_have_the_same_minus_sign():
    columns = {"name": ["a-b"], "n": [-2], "coupling": [-0.5]}
    assert text_of(columns, "markdown").splitlines()[-1] == "| a-b | −2 | −0.500 |"
    assert text_of(columns, "csv").splitlines()[-1] == "a-b,-2,-0.500"


def test_latex_has_no_character_that_it_would_run():
    lines = text_of({"name": [r"a\b", "{x}", "~^", "<|>"], "r_squared": [0.5] * 4}, "latex").splitlines()
    assert lines[0] == r"\begin{tabular}{lr}"
    assert lines[2] == r"Node & R$^2$ \\"
    assert lines[4].startswith(r"a\textbackslash{}b &")
    assert lines[5].startswith(r"\{x\} &")
    assert lines[6].startswith(r"\textasciitilde{}\textasciicircum{} &")
    assert lines[7].startswith("$<$$|$$>$ &")
    assert all(line.count("&") - line.count(r"\&") == 1 for line in lines[4:8])


@pytest.mark.parametrize("format", ["csv", "markdown", "latex"])
def test_names_with_line_breaks_stay_on_their_line(format):
    lines = text_of({"name": ["a\nb", "c|d"], "field": [1.0, 2.0]}, format)
    rows = list(csv.reader(io.StringIO(lines))) if format == "csv" else lines.splitlines()
    assert len(rows) == {"csv": 3, "markdown": 4, "latex": 8}[format]


def test_what_prints(tmp_path):
    network = Network.from_couplings([[0, 1.5], [1.5, 0]], [0.5, 0], names=["tea", "rain"])
    write_table(metrics.centrality(network), tmp_path / "c.md")
    write_table(pd.DataFrame(EDGES), tmp_path / "e.tex")
    assert "| tea | 1.500 |" in (tmp_path / "c.md").read_text(encoding="utf-8")
    assert r"c \& d" in (tmp_path / "e.tex").read_text(encoding="utf-8")
    write_network(network, tmp_path / "n.md", "nodes")
    assert "| tea | 0.500 | 1 | 1.500 |" in (tmp_path / "n.md").read_text(encoding="utf-8")
    write_network(network, tmp_path / "t.csv", "fields")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "t.csv").read_text(encoding="utf-8"))))
    assert [(row["name"], row["category"], float(row["field"])) for row in rows] == [
        ("tea", "0", 0.0),
        ("tea", "1", 0.5),
        ("rain", "0", 0.0),
        ("rain", "1", 0.0),
    ]


@pytest.mark.parametrize(("path", "format"), [("t.xlsx", None), ("-", None), ("t.md", "html")])
def test_formats_that_are_none(path, format):
    with pytest.raises(DataError, match=re.escape("must")):
        write_table(EDGES, path, format)


@pytest.mark.parametrize("column", [3, "tea"])
def test_columns_that_are_none(column):
    with pytest.raises(DataError, match=r"column '.*' must be a column of values; got"):
        write_table({"source": column}, "-", "csv")


@pytest.mark.parametrize("column", [np.ones((2, 2)), [np.arange(2), np.arange(2)], [["a"], ["b"]], [(1, 2), (3, 4)]])
def test_cells_with_several_values_are_refused(column):
    with pytest.raises(DataError, match=r"column 'a' must have one value in every cell; got .*\. Make a column"):
        write_table({"a": column}, "-", "csv")


def test_masked_and_zero_dimensional_cells():
    masked = np.ma.array([1.5, 2.5, 3.5], mask=[False, True, False])
    assert text_of({"a": masked}, "csv", digits=1) == "a\n1.5\n\n3.5\n".replace("\n\n", '\n""\n')
    assert text_of({"a": [np.array(1.5), pd.NA]}, "csv", digits=1) == 'a\n1.5\n""\n'


@pytest.mark.parametrize("format", ["markdown", "latex"])
def test_control_characters_are_written_as_pictures(format):
    text = text_of({"a\x1b[31m": ["x\x00y\x7f"]}, format)
    assert "a␛" in text
    assert "x␀y␡" in text


def test_a_table_without_columns_is_refused():
    with pytest.raises(DataError, match="table must have at least one column"):
        write_table({}, "-", "markdown")


def test_digits_are_bounded_and_p_values_keep_one():
    with pytest.raises(DataError, match="digits must be at most 15"):
        write_table(EDGES, "-", "csv", digits=16)
    assert (
        text_of({"coupling": [1.6], "p": [0.03], "q": [0.34]}, "csv", digits=0)
        == "Edge weight,p,q (FDR)\n2,< 0.1,0.3\n"
    )


def test_columns_of_several_lengths():
    with pytest.raises(DataError, match="columns of one length"):
        write_table({"a": [1], "b": [1, 2]}, "-", "csv")


def test_a_matrix_is_not_for_print(tmp_path):
    with pytest.raises(DataError, match=r"Write \.csv"):
        write_network(Network([0.0], [], []), tmp_path / "m.md", "matrix")


def test_no_row_of_latex_begins_with_an_argument_of_the_row_before():
    text = text_of({"name": ["[Q1] a", "*b"], "field": [0.5, 1.0]}, "latex")
    assert "{[}Q1] a & 0.500 \\\\\n{*}b & 1.000" in text
