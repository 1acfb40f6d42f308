"""Variables: what they are, how their categories lie in flat arrays, and what is refused."""

import pickle

import numpy as np
import pytest
from scipy.special import log_softmax

from isinglass import Variables
from isinglass.conditionals import log_probabilities
from isinglass.data import Table, as_table, read_parts
from isinglass.errors import ArgumentError, DataError

MIXED = Variables.of([("no", "yes"), 3, ("a", "b", "c", "d"), 3], ["binary", "ordinal", "nominal", "nominal"])


def test_bits_are_shared_and_cost_nothing():
    one, two = Variables.binary(5), Variables.binary(5)
    assert one is two
    assert one.is_binary
    assert one.is_plain
    assert not one.named
    named = Variables.binary(["a", "b"])
    assert (named.names, named.named, named.kinds, named.categories) == (
        ("a", "b"),
        True,
        ("binary",) * 2,
        ((0, 1),) * 2,
    )
    assert named == Variables.of([2, 2], "ordinal", names=["a", "b"])
    assert hash(named) == hash(Variables.of([2, 2], "nominal", names=["a", "b"]))
    assert named != Variables.binary(["a", "c"])


def test_words_of_two_values_are_binary_and_not_plain():
    words = Variables.of([("no", "yes")], "nominal")
    assert words.is_binary
    assert not words.is_plain
    assert words.labels == (("no", "yes"),)
    assert words != Variables.binary(1)
    assert not Variables.of([2], "ordinal", [[1, 2]]).is_binary


def test_what_is_not_said_has_its_default():
    assert MIXED.names == ("x0", "x1", "x2", "x3")
    assert MIXED.kinds == ("binary", "ordinal", "nominal", "nominal")
    assert MIXED.scores == ((0.0, 1.0), (0.0, 1.0, 2.0), None, None)
    assert MIXED.score(1).tolist() == [0.0, 1.0, 2.0]
    assert MIXED.score(2) is None
    assert repr(MIXED) == "Variables(4: 'x0', 'x1', 'x2', …; 1 binary, 1 ordinal, 2 nominal)"


@pytest.mark.parametrize("names", [0, -3, 2.0, []])
def test_there_is_a_binary_variable(names):
    with pytest.raises(ArgumentError, match="names must be a list of strings, or a number of variables"):
        Variables.binary(names)
    assert Variables.binary(np.int64(2)) == Variables.binary(2)


def test_copies_are_equal():
    again = pickle.loads(pickle.dumps(MIXED))
    assert again == MIXED
    assert again.starts.tolist() == MIXED.starts.tolist()
    named = MIXED.with_names(["a", "b", "c", "d"])
    assert named.named
    assert named != MIXED
    assert named.with_names(MIXED.names) == MIXED
    assert named.with_names(None) is named
    assert named.take([2, 0]) == Variables.of([("a", "b", "c", "d"), ("no", "yes")], "nominal", names=["c", "a"])
    assert Variables.binary(4).take(np.array([True, False, False, True])).names == ("x0", "x3")


def test_the_layout_by_hand():
    assert MIXED.sizes.tolist() == [2, 3, 4, 3]
    assert MIXED.starts.tolist() == [0, 2, 5, 9]
    assert MIXED.column.tolist() == [0, 0, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3]
    assert MIXED.widths.tolist() == [1, 1, 4, 3]
    assert MIXED.first.tolist() == [0, 1, 2, 6]
    assert MIXED.n_coordinates == 9
    assert MIXED.coordinate.tolist() == [0, 0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8]
    assert MIXED.factor.tolist() == [0, 1, 0, 1, 2, 1, 1, 1, 1, 1, 1, 1]
    assert MIXED.ranges.tolist() == [1, 2, 1, 1]
    assert MIXED.is_later.tolist() == [k not in (0, 2, 5, 9) for k in range(12)]
    assert [part.tolist() for part in MIXED.split(np.arange(12))] == [[0, 1], [2, 3, 4], [5, 6, 7, 8], [9, 10, 11]]


def test_cells_are_placed_by_their_categories():
    codes = np.array([[1, 2, 3, 0], [0, 1, 0, 2]], dtype=np.uint8)
    flat = MIXED.flat(codes)
    assert flat.T.tolist() == [[1, 4, 8, 9], [0, 3, 5, 11]]
    assert MIXED.place(flat).T.tolist() == [[1, 2, 0, 0, 0, 1, 1, 0, 0], [0, 1, 1, 0, 0, 0, 0, 0, 1]]


def test_softmax_within_every_variable():
    logits = np.random.default_rng(0).normal(scale=300, size=(12, 5))
    expected = np.concatenate([log_softmax(part, axis=0) for part in MIXED.split(logits)])
    np.testing.assert_allclose(log_probabilities(MIXED, logits, np.empty((5, 4), dtype=np.uint8)), expected, atol=1e-12)


def test_blocks_of_pairs():
    pairs = np.array([[0, 1], [0, 2], [1, 3], [2, 3]])
    assert MIXED.has_sign(pairs).tolist() == [True, False, False, False]
    assert MIXED.block_sizes(pairs).tolist() == [1, 4, 3, 12]
    np.testing.assert_allclose(MIXED.block_scale(pairs), [1, np.sqrt(2), np.sqrt(2), 2])
    flat = np.random.default_rng(1).normal(size=20)
    blocks = MIXED.split_blocks(pairs, flat)
    np.testing.assert_array_equal(np.concatenate([block.ravel() for block in blocks]), flat)
    assert all(np.shares_memory(block, flat) for block in blocks)
    norms = [np.linalg.norm(block) for block in blocks]
    expected = [flat[0], np.sqrt(2) * norms[1], np.sqrt(2) * norms[2], 2 * norms[3]]
    np.testing.assert_allclose(MIXED.block_values(pairs, flat), expected)
    assert MIXED.split_blocks(pairs[:0], flat[:0]) == []


def test_the_first_column_with_more_than_two_values_is_named():
    Variables.binary(3).require_two_values("X")
    with pytest.raises(DataError, match="X must have columns of two values here; got the ordinal column 1 with 3"):
        MIXED.require_two_values("X")
    with pytest.raises(DataError, match="got the ordinal column 'b' with 3"):
        MIXED.with_names(list("abcd")).require_two_values("X")


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((3, "ordinal"), "categories must be a list with an entry for every variable; got 3"),
        (((), "ordinal"), "categories must be a list with an entry for every variable"),
        (((2,), None), 'kinds must be one of "binary", "ordinal", "nominal", "continuous"; got None'),
        (((2,), ["cardinal"]), "kinds must be one of"),
        (((3,), ["cardinal"]), "kinds must be one of"),
        (([("a", "b", "c")], "continuous"), "column 0 is continuous and must have numbers"),
        (([(3, 2, 1)], "continuous"), "column 0 is continuous and must have numbers in ascending order"),
        (([("a", None, "b")], "nominal"), "must have a value for every category"),
        (([(1.0, np.nan)], "nominal"), "must have a value for every category"),
        (((2, 2), ["binary"]), r"kinds must have one entry per variable \(2\); got \['binary'\]"),
        (((2, 3), "ordinal", 5), r"scores must have one entry per variable \(2\); got 5"),
        (
            ((2, 3), "ordinal", [5, 6]),
            "one finite number for each of the 2 categories of column 0, all different; got 5",
        ),
        ((("yes", 2), "ordinal"), "a list of 2 to 256 categories of every variable, or their number; got 'yes'"),
        (((1,), "ordinal"), "2 to 256 categories"),
        (((257,), "nominal"), "2 to 256 categories"),
        (((10**12,), "continuous"), "2 to 256 categories"),  # not listed to be counted
        (((-3,), "continuous"), "2 to 256 categories"),
        (([("a",)], "continuous"), "2 to 256 categories"),
        (((2.5,), "ordinal"), "2 to 256 categories of every variable, or their number; got 2.5"),
        (((None,), "ordinal"), "2 to 256 categories"),
        (((3,), "binary"), "is binary"),
        (((3,), "nominal", [[0, 1, 2]]), "is nominal and must have no scores"),
        (((3,), "ordinal", [[0, 1]]), "one finite number for each of the 3"),
        (((3,), "ordinal", [[0, 1, 1]]), "all different"),
        (((3,), "ordinal", [[0, 1, np.inf]]), "one finite number"),
        (((3,), "ordinal", [["a", "b", "c"]]), "one finite number"),
        (((3, 2), ["ordinal"]), "one entry per variable"),
        (((3,), "ordinal", None, ["a", "b"]), "one entry per variable"),
    ],
)
def test_what_is_no_variable(parts, message):
    with pytest.raises(DataError, match=message):
        Variables.of(*parts)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Variables.binary({"alpha", "beta"}),
        lambda: Variables.binary({"alpha": 0, "beta": 1}),
        lambda: Variables.of([{"low", "mid", "high"}], "ordinal"),
        lambda: Variables.of({3, 4}, "ordinal"),
        lambda: Variables.of([3, 3], {"nominal", "ordinal"}),
        lambda: Variables.of([3], "ordinal", [{2: 0, 0: 1, 1: 5}]),
        lambda: Variables.of([3], "ordinal", [{0, 10, 5}]),
        lambda: Variables.of([3], "ordinal", ["012"]),
        lambda: Variables.of([2], "binary", names=frozenset({"alpha"})),
        lambda: as_table(np.eye(2), names={"alpha", "beta"}),
        lambda: as_table(np.eye(2), kinds={"nominal", "ordinal"}),
        lambda: as_table([[0], [1], [2]] * 9, scores={0: {0, 10, 5}}),
    ],
)
def test_what_has_no_order_is_no_list(make):
    with pytest.raises(ArgumentError, match=r"list|entry per (variable|column)"):
        make()


def test_a_list_may_be_generated():
    assert Variables.of((q for q in [2, 3]), (kind for kind in ["binary", "nominal"])).kinds == ("binary", "nominal")
    assert Variables.binary(name for name in "ab").names == ("a", "b")


def test_covariates_are_part_of_the_record():
    plain = Variables.binary(["a", "b", "c"])
    assert not plain.has_covariates
    assert plain.is_binary
    marked = plain.with_covariates(["c"])
    assert marked == plain.with_covariates([2]) != plain
    assert marked.is_modeled.tolist() == [True, True, False]
    assert not marked.is_binary  # columns of two values beside a covariate are not the problem of two values
    assert marked.take([2, 0]).covariate == (True, False)
    assert marked.with_names(["x", "y", "z"]).covariate == marked.covariate
    for wrong in (["d"], [3], [True], ["a", "b", "c"]):
        with pytest.raises(DataError, match="covariates"):
            plain.with_covariates(wrong)
    with pytest.raises(DataError, match="the covariate 'c' has none"):
        marked.require_two_values("X")


def test_what_is_no_record_of_variables_is_refused():
    with pytest.raises(ArgumentError, match=r"variables must be a Variables, as Variables\.of returns it; got 'list'"):
        Table(np.eye(2, dtype=np.uint8), variables=["a", "b"])
    with pytest.raises(DataError, match=r"got int64 of shape \(2, 2\)\. Use as_table"):
        Table(np.eye(2, dtype=np.int64))


@pytest.mark.parametrize("columns", [[0, 0], [1, -1], np.array([1, 0, 1])])
def test_a_column_is_taken_once(columns):
    named = Variables.of([2, 3], ["binary", "nominal"], names=["a", "b"])
    table = Table(np.array([[0, 2], [1, 1]], dtype=np.uint8), named)
    for some in (named, Variables.binary(2), table, read_parts([np.eye(2)])):
        with pytest.raises(ArgumentError, match="columns must have each column once; got"):
            some.take(columns)


@pytest.mark.parametrize("columns", [[[1], [1, 2]], [], [2]])
def test_what_is_no_choice_of_variables(columns):
    with pytest.raises(ArgumentError, match="columns must"):
        Variables.binary(2).take(columns)
    assert Variables.binary(2).take(np.empty(0, int)).n_features == 0  # the columns that vary where none does


def test_the_scores_of_numbers_ascend():
    with pytest.raises(DataError, match=r"column 0 is continuous and must have ascending scores; got \(3"):
        Variables.of([[1, 2, 3], 2], ["continuous", "binary"], scores=[[3, 2, 1], None])


def test_a_column_that_is_modeled_is_left():
    variables = Variables.binary(["a", "b", "c"]).with_covariates(["b", "c"])
    assert variables.take([0, 2]).covariates == ("c",)
    with pytest.raises(DataError, match="covariates must leave a column that is modeled"):
        variables.take([1, 2])
