"""Tables in parts: what is taken for one, one coding for all parts, sums over rows, and parts that disagree."""

import itertools
import tracemalloc
from dataclasses import replace
from operator import attrgetter, itemgetter

import numpy as np
import pandas as pd
import pytest
from networks import make_table

from isinglass import IsingLasso, IsingNetwork, read_table
from isinglass.data import PartedTable, Table, as_table, category_counts, pair_counts, read_parts, which_vary
from isinglass.data.parts import backends
from isinglass.data.parts.backends import Here
from isinglass.data.parts.parted_table import Fold
from isinglass.data.parts.read_parts import cut_into_parts
from isinglass.data.weights import WeightSums
from isinglass.errors import ArgumentError, DataError, DataWarning, LimitError, suppress_warnings
from isinglass.records import Missing, count_observations
from isinglass.select.scoring import ebic

RNG = np.random.default_rng(0)
X = RNG.integers(0, 2, (60, 5), dtype=np.uint8)
CUTS = (0, 20, 21, 60)
NAMES = tuple("abcde")


def cut(table):
    return [table[a:b] for a, b in itertools.pairwise(CUTS)]


def column_sums(table, weight):
    return table.sum(axis=0, dtype=float) if weight is None else weight @ table


def rows(table):
    """All rows of a table in parts."""
    return np.concatenate([found for found, _ in table.each(lambda table, weight: (table, weight))])


@pytest.fixture
def folder(tmp_path):
    frames = cut(pd.DataFrame(X, columns=NAMES))
    for k, frame in enumerate(frames):
        frame.to_parquet(tmp_path / f"p{k}.parquet")
        frame.to_csv(tmp_path / f"p{k}.csv", index=False)
    return tmp_path


def test_blocks_of_any_kind_are_one_table(folder):
    arrays = cut(X)
    assert isinstance(as_table(arrays), PartedTable)
    assert isinstance(as_table(X.tolist()), Table)  # a list of rows is no list of blocks
    frames = cut(pd.DataFrame(X, columns=NAMES))
    for given, names in (
        (arrays, None),
        (frames, NAMES),
        (f"{folder}/*.parquet", NAMES),
        ([folder / f"p{k}.csv" for k in range(3)], NAMES),
    ):
        table = read_parts(given)
        assert table.shape == X.shape
        assert table.sizes == (20, 1, 39)
        assert table.variables.named == (names is not None)
        assert names is None or table.names == names
        np.testing.assert_array_equal(rows(table), X)


def test_dask_collections_are_read_block_by_block():
    dask = pytest.importorskip("dask.array")
    frames = pytest.importorskip("dask.dataframe")
    table = read_parts(dask.from_array(X, chunks=(25, 2)))
    assert table.sizes == (25, 25, 10)
    np.testing.assert_array_equal(rows(table), X)
    frame = read_parts(frames.from_pandas(pd.DataFrame(X, columns=NAMES), npartitions=4))
    assert (frame.names, len(frame.sizes)) == (NAMES, 4)
    np.testing.assert_array_equal(rows(frame), X)


def test_sums_over_parts_are_sums_over_rows():
    weight = RNG.random(60)
    for w in (None, weight):
        table = as_table(cut(X), None if w is None else cut(w))
        whole = make_table(X, sample_weight=w).counted()
        assert table.total_weight == pytest.approx(whole.total_weight, rel=1e-14)
        np.testing.assert_allclose(table.sum_rows(column_sums), whole.sum_rows(column_sums), rtol=1e-14)
        np.testing.assert_allclose(category_counts(table), category_counts(whole), rtol=1e-13)
        assert which_vary(table).all()
        pairs = np.array([[0, 1], [2, 4]])
        for one, other in zip(pair_counts(table, pairs), pair_counts(whole, pairs), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13)
            assert one.dtype == other.dtype


def test_a_column_that_is_constant_in_each_part_may_vary():
    table = read_parts([np.array([[0, 1, 1]]), np.array([[1, 1, 1]])])
    assert which_vary(table).tolist() == [True, False, False]
    assert category_counts(table).tolist() == [1, 1, 0, 2, 0, 2]


def test_weights_of_parts():
    weight = np.arange(60.0)
    with pytest.warns(DataWarning, match="sum 1770 over 59 rows and are treated as counts"):
        read_parts(cut(X), sample_weight=cut(weight))
    table = read_parts(cut(X), sample_weight=cut(weight), weight_kind="counts")
    assert table.weight_kind == "counts"
    np.testing.assert_allclose(table.sum_rows(column_sums), weight @ X)
    table = read_parts(cut(X), sample_weight=cut(weight), weight_kind="sampling")
    scaled = make_table(X, sample_weight=weight, weight_kind="sampling").counted(quiet=True).sample_weight
    np.testing.assert_allclose(table.sum_rows(column_sums), scaled @ X, rtol=1e-12)
    for kind, other in (("sampling", "counts"), ("counts", "sampling")):  # stated again, the other way
        read = as_table(read_parts(cut(X), sample_weight=cut(weight), weight_kind=other), weight_kind=kind)
        counted = make_table(X, sample_weight=weight, weight_kind=kind).counted()
        assert read.weight_kind == kind
        assert read.total_weight == pytest.approx(counted.total_weight, rel=1e-12)
        np.testing.assert_allclose(read.sum_rows(column_sums), counted.sample_weight @ X, rtol=1e-12)
    with pytest.raises(DataError, match="counts must be whole numbers; got 60 weights with decimals"):
        read_parts(cut(X), sample_weight=cut(np.full(60, 0.5)), weight_kind="counts")
    with pytest.raises(DataError, match=r"^row weights must have a positive sum"):
        read_parts(cut(X), sample_weight=cut(np.zeros(60)))
    with pytest.raises(DataError, match="a block for each of the 3 parts; got 2"):
        read_parts(cut(X), sample_weight=[np.ones(20), np.ones(40)])
    with pytest.raises(DataError, match="weights applies only to parts that are files"):
        read_parts(cut(X), weights=0)


def test_one_coding_for_all_parts():
    words = pd.DataFrame(np.where(X == 1, "Yes", "No"), columns=NAMES)
    words.loc[:20, "a"] = "Yes"  # one value in the first parts, two in the last
    whole = as_table(words, encode="auto")
    table = read_parts(cut(words), encode="auto")
    assert table.encoding == whole.encoding
    np.testing.assert_array_equal(rows(table), whole.codes)
    holes = words.mask(RNG.random(words.shape) < 0.1)
    with suppress_warnings(DataWarning):
        whole = as_table(holes, encode={"Yes": 1, "No": 0}, missing="zero")
        table = read_parts(cut(holes), encode={"Yes": 1, "No": 0}, missing="zero")
    with pytest.raises(DataError, match="for a table in parts"):
        read_parts(cut(holes), missing="impute")
    assert (table.n_missing, table.coding.missing) == (whole.n_missing, "zero")
    np.testing.assert_array_equal(rows(table), whole.codes)


@pytest.mark.parametrize("zero", [0, 2])
def test_a_part_may_have_weights_of_zero_only(zero, tmp_path):
    weight = np.where(np.repeat(range(3), np.diff(CUTS)) == zero, 0.0, 1.0 + np.arange(60) % 3)
    for k, (codes, some) in enumerate(zip(cut(X), cut(weight), strict=True)):
        pd.DataFrame(codes, columns=NAMES).assign(w=some).to_csv(tmp_path / f"p{k}.csv", index=False)
    kept = make_table(X[weight > 0], sample_weight=weight[weight > 0], weight_kind="counts")
    for table in (
        read_parts(cut(X), sample_weight=cut(weight), weight_kind="counts"),
        read_parts(f"{tmp_path}/*.csv", weights="w", weight_kind="counts"),
    ):
        assert (len(table), table.total_weight) == (60, kept.total_weight)
        np.testing.assert_array_equal(category_counts(table), category_counts(kept))
        expected = IsingLasso(0.05).fit(kept)
        np.testing.assert_allclose(IsingLasso(0.05).fit(table).couplings_, expected.couplings_, atol=1e-6)
    halves = read_parts([X[:30], X[30:]], sample_weight=[np.zeros(30), np.ones(30)])
    assert IsingNetwork().fit(halves).fit_.solution.converged  # folds are drawn in every part


@pytest.mark.parametrize("encode", [None, "auto"])
def test_remedies_are_those_that_parts_have(encode):
    with pytest.raises(DataError, match="need one table in memory") as refused:
        read_parts([RNG.normal(size=(30, 2))] * 2, encode=encode)
    assert "kinds" not in str(refused.value)
    with pytest.raises(DataError, match="missing cells; got NaN") as refused:
        read_parts([np.array([[0.0, np.nan], [1.0, 1.0]])])
    assert "impute" not in str(refused.value)


def test_a_part_that_disagrees_is_named(folder):
    frames = cut(pd.DataFrame(X, columns=NAMES))
    wrong = {
        "more columns": (frames[2].assign(f=1), "part 2: .*got 'f' where part 0 has 'no column'"),
        "other order": (frames[2][list("bacde")], r"part 2: .*in the same order; got 'b' where part 0 has 'a'"),
        "other column": (frames[2].rename(columns={"c": "z"}), r"part 2: .*got 'z' where part 0 has 'c'"),
        "fewer columns": (frames[2][list("abcd")], "part 2: .*got 'no column' where part 0 has 'e'"),
        "no column": (pd.DataFrame(), r"part 2: X must have at least one row and one column"),
        "a new value": (frames[2].replace(0, 7), r"part 2: .*only 0 and 1; got 7 in column 'a'"),
        "no names": (frames[2].to_numpy(), r"part 2: .*got 'no column' where part 0 has 'a'"),
    }
    for frame, message in wrong.values():
        with pytest.raises(DataError, match=message):
            read_parts([*frames[:2], frame])
    (folder / "p1.parquet").write_bytes((folder / "p1.parquet").read_bytes()[:-30])
    with pytest.raises(DataError, match=r"part 1 \(.*p1\.parquet\)"):
        read_parts(f"{folder}/*.parquet")
    with pytest.raises(FileNotFoundError, match=r"none\.csv"):  # as of read_table
        read_parts([*sorted(folder.glob("*.csv")), folder / "none.csv"])
    with pytest.raises(DataError, match="no file matches"):
        read_parts(f"{folder}/*.nothing")
    with pytest.raises(DataError, match=r"is a folder. Pass a pattern, such as '.*/\*\.csv'"):
        read_parts(folder)


def test_a_part_with_other_columns_or_values_gets_advice_that_holds_for_all_parts():
    cells = np.random.default_rng(0).integers(0, 2, (40, 3))
    with pytest.raises(DataError, match="part 1: X must have the 3 columns of the table that was read first; got 2"):
        read_parts([cells, cells[:, :2]])
    advice = r"If these are two answers, use encode=\"auto\", or say what they mean"
    with pytest.raises(DataError, match=advice):
        read_parts([cells, cells + 1])
    assert read_parts([cells + 1, cells + 1], encode="auto").gather().codes.tolist() == np.tile(cells, (2, 1)).tolist()
    assert read_parts([cells, cells + 1], encode={0: 0, 1: 0, 2: 1}).shape == (80, 3)


def test_a_value_that_only_a_later_part_has_is_refused_by_a_given_coding():
    coding = as_table([["Yes", "No"], ["No", "Yes"]], encode="auto").coding
    with pytest.raises(DataError, match=r"part 1: .*'Maybe'"):
        read_parts([np.array([["Yes", "No"]], dtype=object), np.array([["No", "Maybe"]], dtype=object)], encode=coding)


def test_folds_divide_the_rows_of_every_part():
    table = read_parts([X[:20], X[20:]])
    taken = [table.take_fold(Fold(3, 4, k, held=True)) for k in range(4)]
    assert sum(map(len, taken)) == 60
    assert sum(fold.sum_rows(column_sums) for fold in taken).tolist() == X.sum(axis=0).tolist()
    outside = table.take_fold(Fold(3, 4, 1, held=False))
    assert len(outside) + len(taken[1]) == 60
    total = outside.sum_rows(column_sums) + taken[1].sum_rows(column_sums)
    assert total.tolist() == X.sum(axis=0).tolist()
    inner = [outside.take_fold(Fold(5, 3, k, held=True)) for k in range(3)]  # folds of the rows outside
    assert sum(map(len, inner)) == len(outside)
    assert sum(fold.sum_rows(column_sums) for fold in inner).tolist() == outside.sum_rows(column_sums).tolist()
    with pytest.raises(DataError, match="n_folds must be at most the number of rows of every part"):
        read_parts(cut(X)).take_fold(Fold(3, 4, 1, held=True))
    with pytest.raises(DataError, match="got 6 for a part of 5"):
        taken[1].take_fold(Fold(3, 6, 1, held=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_parts_are_gathered_in_their_order(weighted):
    weight = np.arange(1.0, 61.0) if weighted else None
    given = {"sample_weight": [weight[:20], weight[20:]], "weight_kind": "counts"} if weighted else {}
    table = read_parts([X[:20], X[20:]], **given)
    found = table.gather()
    assert found.codes.tolist() == X.tolist()
    assert found.names == table.names
    assert (found.sample_weight is None) == (weight is None)
    assert found.total_weight == table.total_weight
    fold = Fold(3, 4, 1, held=True)
    taken = table.take_fold(fold)
    rows, some = np.concatenate([taken.selection.mask(0, 20), taken.selection.mask(1, 40)]), taken.gather()
    assert some.codes.tolist() == X[rows].tolist()
    assert weight is None or some.sample_weight.tolist() == weight[rows].tolist()


def test_sums_without_arguments_are_computed_once(monkeypatch):
    table, asked = read_parts(cut(X)), []
    each = type(table).each
    monkeypatch.setattr(type(table), "each", lambda self, *given: asked.append(given) or each(self, *given))
    found = [table.sum_rows(column_sums) for _ in range(3)]
    assert all(one.tolist() == X.sum(axis=0).tolist() for one in found)
    assert len(asked) == 1
    assert table.above(0.0).total_weight == len(X)  # without weights there is nothing to ask for
    assert len(asked) == 1


def test_rows_and_columns_that_are_meant():
    weight = np.arange(60.0)
    table = cut_into_parts(X, weight, 100).above(30.0).take(np.array([1, 4]))
    found = [table.selection.rows(part, table.columns) for part in table.backend.parts.values()]
    np.testing.assert_array_equal(np.concatenate([cells for cells, _ in found]), X[31:, [1, 4]])
    np.testing.assert_array_equal(np.concatenate([own for _, own in found]), weight[31:])
    assert table.above(0.0).total_weight == table.total_weight  # rows that were left out stay so


def test_parts_that_do_not_fit_are_read_again_each_time(folder, monkeypatch):
    monkeypatch.setattr(backends, "available_memory", lambda: 10.0)
    table = read_parts(f"{folder}/*.parquet", client=False)
    assert "read again each time" in repr(table)
    np.testing.assert_array_equal(rows(table), X)
    assert table.backend.parts == {}
    with pytest.raises(LimitError, match="about 60 bytes of memory in addition to the blocks"):
        read_parts(cut(X), client=False)


def test_what_needs_rows_in_memory_refuses_parts():
    table = read_parts(cut(X))
    properties = (attrgetter(name) for name in ("codes", "unit_weight", "weighted_rows"))
    for use in (np.asarray, np.array, list, itemgetter(0), *properties):
        with pytest.raises(DataError, match="got a table in parts"):
            use(table)
    assert getattr(table, "codes", None) is None
    assert not hasattr(table, "unit_weight")


def test_a_host_says_where_parts_are():
    assert repr(read_parts(cut(X))) == "PartedTable(60 rows × 5 columns in 3 parts, in this process)"
    assert "in 1 part," in repr(read_parts([X]))
    assert isinstance(backends.find_backend([], False), Here)


def test_weights_are_whole_by_one_rule_in_parts_and_in_memory():
    X = np.random.default_rng(0).integers(0, 2, (12, 3)).astype(np.uint8)
    for error, kind in ((1e-12, "counts"), (1e-6, "sampling")):
        weight = np.tile([1.0, 2.0, 3.0 * (1.0 + error)], 4)
        parts = read_parts(np.split(X, 3), sample_weight=np.split(weight, 3))
        assert parts.weight_kind == kind == as_table(X, weight).counted(quiet=True).weight_kind


def test_chosen_columns_have_their_part_of_the_coding():
    frame = pd.DataFrame(X, columns=list("abcde")).replace({0: "n", 1: "y"})
    table = read_parts([frame[:30], frame[30:]], encode="auto")
    some = table.take(np.array([4, 1, 0])).take(np.array([0, 1]))
    assert (some.names, list(some.encoding), some.shape) == (("e", "b"), ["e", "b"], (60, 2))
    np.testing.assert_array_equal(as_table(frame, encode=some.coding).codes, X[:, [4, 1]])
    renamed = some.with_names(["f", "g"])
    assert (renamed.names, rows(renamed).tolist()) == (("f", "g"), X[:, [4, 1]].tolist())


def test_what_became_of_missing_cells_is_recorded_alike_in_parts_and_in_memory():
    holes = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
    holes[20] = X[20]  # a part of one row, which must stay
    for missing in ("zero", "drop"):
        with suppress_warnings(DataWarning):
            whole, parts = as_table(holes, missing=missing), read_parts(cut(holes), missing=missing)
        assert whole.missing_treatment == parts.missing_treatment == missing
        one, other = Missing.of(whole), Missing.of(parts)
        for name in ("treatment", "n_rows", "n_cells", "n_left_out"):
            assert getattr(one, name) == getattr(other, name)
    for table in (as_table(X, missing="zero"), read_parts(cut(X), missing="zero")):
        assert table.missing_treatment is Missing.of(table) is None


@pytest.mark.parametrize("empty", [0, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_part_may_have_no_complete_row(empty, weighted):
    holes, weight = X.astype(float), np.arange(60) % 3 + 1.0 if weighted else None
    holes[CUTS[empty] : CUTS[empty + 1], empty] = np.nan
    with pytest.warns(DataWarning, match="left out [0-9]+ of 60 rows") as caught:
        parts = read_parts(cut(holes), missing="drop", sample_weight=None if weight is None else cut(weight))
    assert len(caught) == 1  # about the table, whatever its parts
    with suppress_warnings(DataWarning):
        whole = as_table(holes, weight, missing="drop")
    assert parts.sizes[empty] == 0
    assert (parts.shape, parts.n_missing, parts.n_dropped) == (whole.shape, whole.n_missing, whole.n_dropped)
    np.testing.assert_array_equal(rows(parts), whole.codes)
    np.testing.assert_array_equal(category_counts(parts), category_counts(whole))
    fits = [IsingLasso(0.05).fit(table) for table in (parts, whole)]
    np.testing.assert_allclose(fits[0].couplings_, fits[1].couplings_, atol=1e-6)
    assert [len(scores) for scores in fits[1].score_samples(parts)] == list(parts.sizes)
    assert len(parts.take_fold(Fold(3, 1, 0, held=True))) == len(whole)


def test_sums_of_weights_add_up_over_parts():
    rng = np.random.default_rng(2)
    weight = rng.exponential(size=60) * 10.0 ** rng.integers(-3, 4, 60)
    weight[20] = 0.0  # the only row of its part
    whole, sums = WeightSums.of(weight), [WeightSums.of(part) for part in cut(weight)]
    for total in (sums[0] + sums[1] + sums[2], sums[2] + (sums[1] + sums[0])):
        assert vars(total) == pytest.approx(vars(whole), rel=1e-14)


def test_a_part_that_takes_its_workers_along_is_an_error():
    distributed = pytest.importorskip("distributed")

    class Client:
        """The part of a Dask client that `Cluster` uses, whose only worker dies of every task."""

        def wait_for_workers(self, n):
            pass

        def nthreads(self):
            return {"worker": 1}

        def submit(self, *arguments, **_):
            pass

        def gather(self, futures):
            state = type("State", (), {"address": "worker"})
            raise distributed.KilledWorker("run", state, 3)

    cluster = backends.Cluster(read_parts(cut(X), client=False).backend.blocks, Client())
    cluster.load(None)
    with pytest.raises(DataError, match=r"lost several times .*Give the workers more memory"):
        cluster.each(len, ())


def test_names_of_files_are_no_table(folder):
    path = next(folder.glob("*.parquet"))
    for X in (str(path), path, [path], f"{folder}/*.csv", ["Yes", "No", "Yes"]):
        with pytest.raises(DataError, match=r"use isinglass\.read_table\(path\).* isinglass\.read_parts\(paths\)"):
            as_table(X)
    assert len(read_parts(path).sizes) == 1


def test_counts_take_little_memory_beside_the_table():
    table = make_table(np.random.default_rng(0).integers(0, 2, (20_000, 40), dtype=np.uint8))
    table = replace(table, holes=np.zeros(table.shape, dtype=bool))
    complete = replace(table, holes=None)
    for count in (lambda: category_counts(table), lambda: pair_counts(complete, np.array([[0, 1], [2, 3]]))):
        tracemalloc.start()
        count()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < table.codes.nbytes


def test_thresholds_beside_values_that_are_found():
    frame = pd.DataFrame({"x": [1, 5, 2, 7, 3, 4], "y": ["no", "yes", "no", "no", "no", "no"]})
    whole = as_table(frame, encode="auto", binarize={"x": 3})
    parts = read_parts([frame[:3], frame[3:]], encode="auto", binarize={"x": 3})
    assert np.array_equal(parts.gather().codes, whole.codes)
    assert parts.coding == whole.coding


def test_a_part_without_weights_has_weights_of_one():
    cells = [np.random.default_rng(seed).integers(0, 2, size=(50, 3)).astype(np.uint8) for seed in (0, 1)]
    heavy = np.full(50, 2.5)
    implied, stated = (
        read_parts(cells, sample_weight=[heavy, last], weight_kind="sampling").counted() for last in (None, np.ones(50))
    )
    np.testing.assert_allclose(category_counts(implied), category_counts(stated), rtol=1e-12)


@pytest.mark.parametrize(
    "option", [{"guess": True}, {"kinds": "binary"}, {"reverse": ["a"]}, {"combine_indicators": True}]
)
def test_options_of_other_kinds_are_refused_by_name(option):
    (name,) = option
    with pytest.raises(DataError, match=f"^{name} must not be given for a table in parts"):
        as_table(cut(pd.DataFrame(X, columns=NAMES)), **option)


@pytest.mark.parametrize("missing", ["drop", "zero"])
def test_no_part_is_advised_to_impute(missing):
    holes = X.astype(float)
    holes[::3, 0], holes[1] = np.nan, np.nan
    zeroed = r'^missing="zero": 2 of 120 rows .*35% of the cells in column 0\. '
    text = {"drop": "left out 42 of 120 rows", "zero": zeroed}[missing]
    with pytest.warns(DataWarning, match=text) as caught:
        read_parts([holes, holes], missing=missing)
    assert len(caught) == 1
    with pytest.warns(DataWarning, match=text) as whole:
        as_table(np.concatenate([holes, holes]), missing=missing)
    assert str(whole[0].message).startswith(str(caught[0].message))  # and then to impute
    few = X[:25].astype(float)
    few[:, 0] = np.nan
    assert read_parts([few, *[X] * 20], missing=missing).n_missing == 25  # many of a part, and few of the table
    with pytest.raises(DataError, match=r"got none\. Leave out columns of all parts") as refused:
        read_parts([holes * np.nan, holes * np.nan], missing="drop")
    assert not any("impute" in str(each) for each in (*[warning.message for warning in caught], refused.value))


def test_one_is_no_plural():
    assert repr(read_parts([[[1]]])) == "PartedTable(1 row × 1 column in 1 part, in this process)"
    with pytest.raises(DataError, match=r"got 1 weight with decimals\. Pass weight_kind"):
        read_parts([np.eye(2)], sample_weight=[[1.5, 1]], weight_kind="counts")


def test_rows_that_are_lists_are_no_blocks():
    with pytest.raises(DataError, match="or blocks of rows, each of them a table; got list_iterator"):
        as_table(iter([[0, 1], [1, 0]]))
    assert as_table(iter([[[0, 1]], [[1, 0]]])).sizes == (1, 1)


def test_columns_with_categories_are_not_read_in_parts():
    coding = as_table(pd.DataFrame({"a": [1, 2, 3, 1], "b": [0, 1, 1, 0]}), kinds={"a": "ordinal"}).coding
    with pytest.raises(DataError, match=r"got the ordinal column 'a' with 3 categories\. Read the table, or a sample"):
        read_parts([pd.DataFrame({"a": [1, 2], "b": [0, 1]})], encode=coding)


@pytest.mark.parametrize(
    ("names", "message"),
    [(["a", "a"], "names must be different from each other; got 'a' twice"), (["a"], r"one entry per variable \(2\)")],
)
def test_names_of_parts_are_checked(names, message):
    for read in (read_parts, as_table):
        with pytest.raises(DataError, match=message):
            read([np.eye(2)], names=names)
    with pytest.raises(DataError, match=message):
        as_table(read_parts([np.eye(2)]), names=names)
    assert read_parts([np.eye(2)], names=["a", "b"]).variables.named


@pytest.mark.parametrize("encode", [None, "auto"])
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_may_have_no_row(encode, weighted):
    frame, weight = pd.DataFrame(X, columns=NAMES), np.arange(60) % 3 + 1.0 if weighted else None
    some = [(0, 0), (0, 20), (20, 20), (20, 60)]
    blocks = [frame.iloc[a:b] for a, b in some]
    weights = None if weight is None else [weight[a:b] for a, b in some]
    with suppress_warnings(DataWarning):
        parts, whole = read_parts(blocks, sample_weight=weights, encode=encode), as_table(frame, weight)
    assert (parts.sizes, parts.names, parts.weight_range) == ((0, 20, 0, 40), NAMES, whole.weight_range)
    np.testing.assert_array_equal(rows(parts), whole.codes)
    np.testing.assert_array_equal(category_counts(parts), category_counts(whole))
    fits = [IsingLasso(0.05).fit(table) for table in (parts, whole)]
    np.testing.assert_allclose(fits[0].couplings_, fits[1].couplings_, atol=1e-6)
    assert [len(scores) for scores in fits[1].score_samples(parts)] == [0, 20, 0, 40]
    with pytest.raises(DataError, match=r"X must have at least one row; got none in all parts\."):
        read_parts(blocks[:1], encode=encode)
    with pytest.raises(DataError, match=r"part 1: sample_weight must have one value per row \(0,\); got shape \(1,\)"):
        read_parts([frame, frame[:0]], sample_weight=[np.ones(60), np.ones(1)], encode=encode)


def test_a_dask_frame_may_be_filtered():
    frames = pytest.importorskip("dask.dataframe")
    frame = frames.from_pandas(pd.DataFrame(X, columns=NAMES).assign(k=range(60)), npartitions=3)
    parts = read_parts(frame[frame.k >= 30][list(NAMES)])
    assert parts.sizes == (0, 10, 20)
    np.testing.assert_array_equal(rows(parts), X[30:])


def test_an_error_in_a_part_is_of_the_class_that_it_is_of_in_a_table(tmp_path):
    (tmp_path / "p.csv").write_text("a,b\n0,1\n1,0\n")
    for options in ({"weights": "q"}, {"na_values": {"q": 9}}):
        errors = []
        for read, given in ((read_table, tmp_path / "p.csv"), (read_parts, [tmp_path / "p.csv"])):
            with pytest.raises(DataError) as caught:
                read(given, **options)
            errors.append(caught.value)
        assert type(errors[0]) is type(errors[1])
        assert str(errors[1]).startswith(f"part 0 ({tmp_path / 'p.csv'}): ")
        assert errors[0].marked == errors[1].marked


def test_an_entry_that_is_no_part_is_named():
    for X, odd in ((["a.csv", 5], "entry 0 is of type str"), ([None, "a.csv"], "entry 0 is of type NoneType")):
        with pytest.raises(DataError, match=f"must be names of files, or blocks of rows, .*; got list, whose {odd}"):
            read_parts(X)


def test_a_part_without_rows_has_no_category_and_no_weight():
    parts = [np.array([[np.nan, 1.0]]), np.array([[0.0, 1.0], [1.0, 1.0]])]
    table = read_parts(parts, missing="drop")
    assert which_vary(table).tolist() == [True, False]
    assert category_counts(table).tolist() == [1, 1, 0, 2]
    table = read_parts(parts, missing="drop", sample_weight=[[0.2], [0.2, 0.3]], weight_kind="sampling")
    assert table.weight_range == pytest.approx((0.4 / 0.52, 0.6 / 0.52))


@pytest.mark.parametrize("weight", [np.repeat([0.5, 1.5], 30), np.repeat([1.0, 3.0], 30)])
def test_another_table_in_parts_is_weighted_as_one_in_memory(weight, tmp_path):
    fit, halves, weights = IsingNetwork().fit(X).fit_, [X[:30], X[30:]], [weight[:30], weight[30:]]
    whole = fit.read(X, sample_weight=weight).counted()
    parts = fit.read(halves, sample_weight=weights)
    assert (parts.weight_kind, parts.total_weight) == (whole.weight_kind, pytest.approx(whole.total_weight, rel=1e-12))
    np.testing.assert_allclose(parts.gather().sample_weight, whole.sample_weight, rtol=1e-12)
    assert ebic(parts, fit) == pytest.approx(ebic(whole, fit), rel=1e-9)
    pd.DataFrame(X, columns=NAMES).assign(w=weight).to_csv(tmp_path / "0.csv", index=False)
    with_file = replace(fit, coding=read_parts([tmp_path / "0.csv"], weights="w").coding, reading={"weights": "w"})
    for kind in ("sampling", None):
        known = replace(with_file, reading={"weights": "w", "weight_kind": kind})
        again, stated = known.read([tmp_path / "0.csv"]), as_table(X, weight, weight_kind=kind).counted()
        assert (again.weight_kind, again.total_weight) == (stated.weight_kind, pytest.approx(stated.total_weight))


@pytest.mark.parametrize("kind", [None, "sampling"])
@pytest.mark.parametrize("last", [2.0, 0.5, 1.0])
@pytest.mark.parametrize("first", [0.0, 1.0])
def test_observations_are_counted_alike_in_parts_and_in_memory(first, last, kind):
    weight = np.repeat([first, last], [10, 50])
    table = read_parts(cut(X), sample_weight=cut(weight), weight_kind=kind)
    with suppress_warnings(DataWarning):
        assert count_observations(table) == count_observations(as_table(X, weight, weight_kind=kind))


def test_a_table_that_was_cut_keeps_its_weights():
    weight = np.repeat([0.5, 1.5], 30)
    cut_table = cut_into_parts(X, weight, 100)
    assert cut_table.weight_kind is None
    assert cut_table.gather().sample_weight.tolist() == weight.tolist()


def test_a_file_may_have_the_signs_of_a_pattern_in_its_name(tmp_path):
    (tmp_path / "q[1]").mkdir()
    path = tmp_path / "q[1]" / "a.csv"
    pd.DataFrame(X, columns=NAMES).to_csv(path, index=False)
    assert read_parts(path).shape == read_parts([str(path)]).shape == X.shape
    with pytest.raises(DataError, match=r"use isinglass\.read_table\(path\)"):
        as_table(path)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ({"client": 5}, r"^client must be a client of Dask, False or None; got 5\.$"),
        ({"missing": "foo"}, r'^missing must be "error", "zero" or "drop" for a table in parts; got \'foo\'\.$'),
    ],
)
def test_options_of_parts_are_checked(option, message):
    with pytest.raises(ArgumentError, match=message):
        read_parts(cut(X), **option)
