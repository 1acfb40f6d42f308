"""Model files: what comes back is what was saved; what was not saved by us gives one clear error."""

import copy
import io
import json
import math
import pickle
import warnings
import zipfile
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold

import isinglass
from isinglass import (
    Fit,
    IsingLasso,
    IsingLassoCV,
    IsingLassoEBIC,
    IsingLassoStARS,
    IsingNetwork,
    Network,
    NodewiseIsingEBIC,
    as_table,
    load,
    save,
    simulate,
)
from isinglass.errors import DataError, LimitError
from isinglass.results import Solution
from isinglass.select import Fixed, Method
from isinglass.storage import NOT_STORED, NotStorableError, OversizedError, read_record, stored_as, write_record
from isinglass.variables import Variables

MODEL = simulate.grid_network(2, 3, couplings="mixed", strength=1.5, fields="balanced", random_state=4)
X = simulate.exact_sample(MODEL, 400, random_state=0)
NAMES = ["</script>", "ä\U0001f600", "", "x" * 3000, "a,b", "\x00\x01"]
FRAME = pd.DataFrame(X, columns=NAMES)
GRID = [0.2, 0.1, 0.05, 0.02, 0.01, 0.0]

ESTIMATORS = [
    IsingLasso(0.05, penalty_weights=np.where(np.eye(6), 0.0, 1.5)),
    IsingLassoStARS(12, n_subsamples=6, random_state=0, threshold=0.1),
    IsingLassoEBIC(GRID, gamma=0.5),
    IsingLassoCV(tuple(GRID), cv=4, random_state=0),
    IsingNetwork(),
    NodewiseIsingEBIC(),
]
FITTED = {type(estimator).__name__: estimator.fit(FRAME).fit_ for estimator in ESTIMATORS}
FITTED["nodewise"] = Method("nodewise", Fixed(0.03), rule="or").fit(FRAME)
FITTED["exact"] = Method("exact", Fixed(0.02)).fit(FRAME)
HOLES = FRAME.mask(np.random.default_rng(0).random(FRAME.shape) < 0.01)
FITTED["imputed"] = Method(selector=Fixed(0.05)).fit(as_table(HOLES, missing="impute"))
FITTED["zeroed"] = Method(selector=Fixed(0.05)).fit(as_table(HOLES, missing="zero"))
FITTED["dropped"] = Method(selector=Fixed(0.05)).fit(as_table(HOLES, missing="drop"))
every = pytest.mark.parametrize("fit", FITTED.values(), ids=FITTED)


def same(one, two):
    """Tell whether two attributes are equal to the bit, whatever they are."""
    if isinstance(one, np.ma.MaskedArray):
        return same(one.data, two.data) and np.ma.isMaskedArray(two)
    if isinstance(one, np.ndarray):
        return (
            one.dtype == two.dtype
            and one.shape == two.shape
            and (one.tolist() == two.tolist() or one.tobytes() == two.tobytes())
        )
    if isinstance(one, float) and math.isnan(one):
        return math.isnan(two)
    if hasattr(one, "tocoo"):
        return same(one.toarray(), two.toarray())
    if isinstance(one, dict):
        return list(one) == list(two) and all(same(one[key], two[key]) for key in one)
    if isinstance(one, list | tuple):
        return type(one) is type(two) and len(one) == len(two) and all(map(same, one, two))
    if hasattr(one, "__dataclass_fields__"):
        known = [name for name in one.__dataclass_fields__ if name in vars(one)]
        return type(one) is type(two) and all(same(vars(one)[name], vars(two)[name]) for name in known)
    return one == two


def stored(fit):
    """Return a fit without what is not for files."""
    return replace(fit, choice=None, imputation=None)


def round_trip(fitted, folder):
    save(fitted, folder / "model.npz")
    return load(folder / "model.npz")


# --- there and back ---------------------------------------------------------------------------------------------------


@every
def test_everything_comes_back(fit, tmp_path):
    again = round_trip(fit, tmp_path)
    assert isinstance(again, Fit)
    assert same(again, stored(fit))
    assert again.network.conditional_probabilities(X).tobytes() == fit.network.conditional_probabilities(X).tobytes()
    pd.testing.assert_frame_equal(pd.DataFrame(again.edges()), pd.DataFrame(fit.edges()))
    assert repr(again) == repr(fit)


def test_the_comparison_can_fail():
    assert not same(FITTED["IsingLasso"], FITTED["IsingLassoEBIC"])
    assert not same({"a": np.zeros(2)}, {"a": np.array([0.0, -1e-300])})
    assert not same((1, 2), [1, 2])


@every
def test_a_second_generation_is_the_same_file(fit, tmp_path):
    save(fit, tmp_path / "one")
    save(load(tmp_path / "one"), tmp_path / "two")
    save(pickle.loads(pickle.dumps(fit)), tmp_path / "three")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() == (tmp_path / "three").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "three", "two"]


def test_networks_by_themselves(tmp_path):
    for model in (
        MODEL,
        FITTED["IsingLasso"].network,
        Network.from_couplings([[0.0]], [1e-310]),
        Network.from_couplings(np.zeros((3, 3)), [1, 2, 3]),
    ):
        again = round_trip(model, tmp_path)
        assert again == model
        assert isinstance(again, Network)


def test_a_fit_remembers_how_its_table_was_read(tmp_path):
    words = FRAME.replace({0: "no", 1: "yes"}).assign(age=np.where(X[:, 0], 70, 20))
    table = as_table(words, encode=dict.fromkeys(NAMES, ("no", "yes")), binarize={"age": 50})
    again = round_trip(IsingLasso().fit(table).fit_, tmp_path)
    assert again.coding.encoding["a,b"] == ("no", "yes")
    assert again.coding == table.coding
    assert again.read(words.assign(more="?")[["more", *words.columns[::-1]]]).codes.tolist() == table.codes.tolist()
    assert round_trip(IsingLasso().fit(X).fit_, tmp_path).coding.names is None
    weighted = round_trip(IsingLasso().fit(X, sample_weight=np.linspace(0.1, 1, 400)).fit_, tmp_path)
    assert weighted.data.pair_counts[0].dtype == float


@pytest.mark.filterwarnings("ignore::isinglass.errors.ConstantColumnWarning")
def test_networks_without_edges_and_with_constant_columns(tmp_path):
    table = FRAME.assign(never=0)
    for estimator in (
        IsingLasso(5.0),
        IsingLassoEBIC([0.6, 0.55]),
        NodewiseIsingEBIC(penalty_weights=None),
    ):
        fit = estimator.fit(table).fit_
        assert same(round_trip(fit, tmp_path), stored(fit))


# --- the header -------------------------------------------------------------------------------------------------------


def header_of(path):
    with np.load(path, allow_pickle=False) as members:
        return json.loads(members["header"].tobytes())


def records_of(tree, kind):
    """Return what a header says about all records of a class, wherever they are."""
    inner = list(tree.values()) if isinstance(tree, dict) else tree if isinstance(tree, list) else []
    own = [tree[kind]] if isinstance(tree, dict) and kind in tree else []
    return own + [found for part in inner for found in records_of(part, kind)]


def test_what_the_header_says(tmp_path):
    save(FITTED["IsingLassoStARS"], tmp_path / "model.npz")
    header = header_of(tmp_path / "model.npz")
    solution = FITTED["IsingLassoStARS"].solution
    assert (header["kind"], header["version"]) == ("isinglass model", 20)
    assert list(header["content"]) == ["Fit"]
    assert [record["names"] for record in records_of(header, "Variables")] == [NAMES]
    assert [record["threshold"] for record in records_of(header, "StARS")] == [0.1]
    assert header["versions"]["isinglass"] == isinglass.__version__
    assert header["versions"]["numpy"] == np.__version__
    assert solution.kkt_residual in [record["kkt_residual"] for record in records_of(header, "Solution")]
    assert header["not_stored"] == []


def test_names_are_stored_once(tmp_path):
    """All networks of a path have the same names, and the chosen one is on the path."""
    names = [f"a column with a rather long name, number {k}" for k in range(6)]
    save(IsingLassoEBIC(GRID).fit(FRAME.set_axis(names, axis=1)), tmp_path / "model.npz")
    header = header_of(tmp_path / "model.npz")
    assert [record["names"] for record in records_of(header, "Variables")] == [names]
    assert len(records_of(header, "Solution")) == len(GRID)
    again = load(tmp_path / "model.npz")
    assert again.solution in [solution for solution in again.selection.path if solution is again.solution]


def test_what_cannot_be_stored_is_named(tmp_path):
    net = IsingLassoCV(GRID, cv=list(KFold(3).split(X)), random_state=np.random.default_rng(0)).fit(X)
    again = round_trip(net.fit_, tmp_path)
    assert header_of(tmp_path / "model.npz")["not_stored"] == ["method.selector.random_state"]
    assert again.selection.evidence.values.tolist() == net.cv_results_["mean_test_score"].tolist()


@pytest.mark.parametrize("values", [[Decimal(1), Decimal(2)], pd.to_datetime(["2020", "2021"])])
def test_values_that_no_file_holds_are_not_forgotten(values, tmp_path):
    frame = pd.DataFrame({"a": [*values] * 5, "b": [0, 1] * 5})
    net = IsingLasso().fit(as_table(frame, encode={"a": tuple(values)}))
    with pytest.raises(DataError, match=r"holds a (Decimal|Timestamp)"):
        net.fit_.save(tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cut", [pd.cut, lambda x, bins: pd.cut(x, bins, right=False)])
def test_categories_that_are_intervals_come_back(cut, tmp_path):
    frame = pd.DataFrame({"age": cut(np.arange(60) % 30, [-1, 9, 19, 30]), "b": np.arange(60) % 2})
    net = IsingLasso().fit(frame)
    again = round_trip(net, tmp_path)
    assert same(again, stored(net.fit_))
    assert again.read(frame).codes.tolist() == net.fit_.read(frame).codes.tolist()


def test_categories_that_are_tuples_come_back(tmp_path):
    variables = Variables.of([[("x", 1), ("y", 2), ("z", 3)], 2], ["nominal", "binary"])
    network = Network([0.5, 1.0, -1.0], [[0, 1]], variables=variables, pair_parameters=[[[1], [0], [-1]]])
    again = round_trip(network, tmp_path)
    assert again == network
    assert again.categories[0] == (("x", 1), ("y", 2), ("z", 3))


VALUES = [
    None,
    True,
    3,
    -0.0,
    1e-320,
    "ä",
    [1, [2.5]],
    (1, (2,)),
    ((0, 1),) * 4,
    ((0, 1), (0.0, 1.0), (False, True)),
    (np.zeros(2), [np.zeros(2)]) * 3,
    ([np.arange(2.0)],) * 3,
    {"Yes": 1, None: 0, 1.5: (0, None)},
    math.inf,
    -math.inf,
    math.nan,
    {},
    np.arange(6.0).reshape(2, 3),
    np.array(7, dtype=np.int8),
    (np.zeros((1, 2), dtype=np.int64), np.ones((3, 0), dtype=np.int64)),
    [np.array(["é", ""]), np.array([b"x"]), np.zeros((0, 2), dtype=bool)],
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_come_back(value, tmp_path):
    write_record(tmp_path / "file", value, "test", 1)
    with (tmp_path / "file").open("rb") as file:
        assert same(read_record(file, "test", 1, 10**6), value)


def test_the_bytes_are_those_of_the_content(tmp_path, monkeypatch):
    write_record(tmp_path / "one", {"a": np.arange(6.0).reshape(2, 3), "b": 1}, "test", 1)
    monkeypatch.setattr("time.time", lambda: 2e9)
    swapped = np.asfortranarray(np.arange(6, dtype=">f8").reshape(2, 3))
    write_record(tmp_path / "two", {"a": swapped, "b": np.int8(1)}, "test", 1)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_a_setting_that_is_left_out_leaves_no_array_behind(tmp_path):
    write_record(tmp_path / "file", {"a": [np.zeros(2), object()], "b": np.ones(1)}, "test", 1)
    with (tmp_path / "file").open("rb") as file:
        assert same(read_record(file, "test", 1, 10**6), {"b": np.ones(1)})
    with pytest.raises(NotStorableError, match="holds a object"):
        write_record(tmp_path / "file", [object()], "test", 1)


@dataclass(frozen=True)
class Asked:
    """A record with settings that a file cannot hold."""

    n: int
    seed: Any = field(default=0, metadata=stored_as(None))
    seen: Any = field(default=None, metadata=NOT_STORED)


def test_fields_that_need_not_be_stored(tmp_path, monkeypatch):
    monkeypatch.setattr(Asked, "__module__", "isinglass.test")  # only our own classes are made
    monkeypatch.setattr("isinglass.storage._hints", lambda cls: {"n": int, "seed": Any, "seen": Any})
    for asked, found in ((Asked(1, 2, 3), Asked(1, 2)), (Asked(1, np.random.default_rng(0)), Asked(1, None))):
        write_record(tmp_path / "file", asked, "test", 1)
        with (tmp_path / "file").open("rb") as file:
            assert read_record(file, "test", 1, 10**6, (Asked,)) == found
    assert header_of(tmp_path / "file")["not_stored"] == ["seed"]


def test_a_header_that_could_not_be_read_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("isinglass.storage.MAX_HEADER_BYTES", 500)
    with pytest.raises(LimitError, match="at most 500 can be read back"):
        save(FITTED["IsingLasso"], tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


# --- what is not ours -------------------------------------------------------------------------------------------------


def test_what_can_be_saved(tmp_path):
    net = IsingLasso().fit(X)
    save(net, tmp_path / "one.npz")
    save(net.fit_, tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    for other in (IsingLasso(), FITTED["IsingLasso"].solution, None):
        with pytest.raises(DataError, match=f"can be saved; got {type(other).__name__}"):
            save(other, tmp_path / "model.npz")
    with pytest.raises(DataError, match=r"is a folder|its folder does not exist"):
        save(FITTED["IsingLasso"], tmp_path / "nowhere" / "model.npz")
    assert len(list(tmp_path.iterdir())) == 2


FOREIGN = {
    "empty": b"",
    "text": b"source,target\na,b\n",
    "zip": None,
    "other npz": None,
    "pickle": pickle.dumps({"a": 1}),
    "half a zip": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_foreign_files(kind, tmp_path):
    path = tmp_path / "file.npz"
    path.write_bytes(FOREIGN[kind] or b"")
    if kind == "zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("readme.txt", "hello")
    if kind == "other npz":
        np.savez(path, a=np.zeros(3), header=np.zeros(2))
    with pytest.raises(DataError, match=r"file.npz' is not a model file, or it is damaged"):
        load(path)


def test_folders_and_missing_files(tmp_path):
    with pytest.raises(DataError, match="is a folder, not a model file"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.npz")
    with pytest.raises(DataError, match="max_bytes must be an integer of at least 1; got 0"):
        load(tmp_path / "none.npz", max_bytes=0)


def test_large_files(tmp_path):
    path = tmp_path / "model.npz"
    save(FITTED["IsingLasso"], path)
    with pytest.raises(
        LimitError, match=r"it has .* bytes, and the limit is 100 bytes when unpacked.*larger max_bytes"
    ):
        load(path, max_bytes=100)
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    assert unpacked > path.stat().st_size
    with pytest.raises(LimitError, match=f"it unpacks to {unpacked} bytes"):
        load(path, max_bytes=unpacked - 1)
    load(path, max_bytes=10**5)
    wide = Network(np.zeros(50_000), [[0, 49_999]], [1.0])  # whose dense couplings would take 20 GB
    save(wide, path)
    assert load(path, max_bytes=20_000_000) == wide


@pytest.mark.parametrize("tree", [{"array": "a"}, {"same": 0}])
def test_arrays_and_records_that_are_named_very_often(tree):
    """They count wherever they are named, because a record that holds them may copy or look at them."""
    one = {"Solution": {"network": {"Network": {}}, "alpha": 0.1}}
    network = {"variables": None, "fields": {"array": "a"}, "pairs": {"array": "b"}, "pair_parameters": {"array": "c"}}
    one["Solution"]["network"]["Network"] = {key: value for key, value in network.items() if key != "variables"}
    header = {"kind": "test", "version": 1, "content": [one, *[tree] * 3000]}
    arrays = {"a": np.zeros(200), "b": np.zeros((0, 2), np.int32), "c": np.zeros(0)}
    entries = {"header.npy": npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))}
    content = packed(entries | {f"{name}.npy": npy(array) for name, array in arrays.items()})
    with pytest.raises(OversizedError, match="more records than there is room for"):
        read_record(io.BytesIO(content), "test", 1, 10**6, (Solution,))


def test_more_records_than_there_is_room_for(tmp_path):
    path = tmp_path / "model.npz"
    save(IsingLassoEBIC(np.geomspace(0.2, 0.01, 50)).fit(X), path)
    with pytest.raises(LimitError, match="more records than there is room for"):
        load(path, max_bytes=10**5)
    load(path)


def entries_of(net):
    buffer_path = entries_of.folder / "valid.npz"
    save(net, buffer_path)
    with zipfile.ZipFile(buffer_path) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def packed(entries):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def npy(array, **options):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, **options)
    return buffer.getvalue()


def header_in(entries):
    return json.loads(np.load(io.BytesIO(entries["header.npy"])).tobytes())


def with_header(entries, header):
    return {**entries, "header.npy": npy(np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))}


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    """The entries of one file of every class."""
    entries_of.folder = tmp_path_factory.mktemp("valid")
    return {name: entries_of(fit) for name, fit in FITTED.items()} | {"Network": entries_of(MODEL)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda h: h | {"kind": "other"}, "of kind 'other'"),
        (lambda h: h | {"version": 4}, "layout 4; this version reads 'isinglass model' of layout 20"),
        (lambda h: h | {"version": 21}, "layout 21"),
        (lambda h: h | {"version": "5"}, "layout '5'"),
        (lambda h: h | {"content": {"Pipeline": {}}}, "unknown class, 'Pipeline'"),
        (lambda h: h | {"content": {}}, "damaged"),
        (lambda h: h | {"content": {"mapping": [], "list": []}}, "damaged"),
        (lambda h: h | {"content": {"array": "b0"}}, "'b0'"),
        (lambda h: h | {"content": {"same": 0}}, "refers to a record that is not there"),
        (lambda h: h | {"content": {"same": -1}}, "refers to a record that is not there"),
        (lambda h: h | {"content": records_of(h, "Fit")[0]["solution"]}, "holds a Solution by itself"),
        (lambda h: h | {"content": 3}, "holds a int by itself"),
        (lambda h: {}, "'kind'"),
        (lambda h: [h], "damaged"),
    ],
)
def test_damaged_headers(change, message, valid, tmp_path):
    path = tmp_path / "damaged.npz"
    header = header_in(valid["IsingLassoEBIC"])
    path.write_bytes(packed(with_header(valid["IsingLassoEBIC"], header)))
    load(path)  # undamaged, it can be read
    path.write_bytes(packed(with_header(valid["IsingLassoEBIC"], change(header))))
    with pytest.raises(DataError, match=message):
        load(path)


def test_files_of_before_are_refused_with_a_reason(tmp_path):
    path = tmp_path / "old.npz"
    path.write_bytes(
        packed({"header.json": b'{"format": "isinglass model", "schema": 3}', "fields.npy": npy(np.zeros(2))})
    )
    with pytest.raises(DataError, match="written by an older version of isinglass"):
        load(path)


def test_arrays_that_are_missing_or_too_short(valid, tmp_path):
    path = tmp_path / "less.npz"
    for name in [name for name in valid["IsingLasso"] if name != "header.npy"]:
        less = {other: content for other, content in valid["IsingLasso"].items() if other != name}
        path.write_bytes(packed(less))
        with pytest.raises(DataError, match="damaged"):
            load(path)
    path.write_bytes(packed(valid["IsingLasso"] | {"more.npy": npy(np.zeros(1))}))
    load(path)


def forged(record, place, value):
    """Return a record with another value somewhere inside, past all constructors."""
    name, _, rest = place.partition(".")
    if isinstance(record, tuple):
        k = int(name)
        return (*record[:k], changed(record[k], rest, value), *record[k + 1 :])
    made = copy.copy(record)
    object.__setattr__(made, name, changed(vars(record)[name], rest, value))
    return made


def changed(part, rest, value):
    return forged(part, rest, value) if rest else value(part) if callable(value) else value


def put(index, value):
    def edit(array):
        array = array.copy()
        array[index] = value
        return array

    return edit


WRONG = [
    ("IsingLasso", "solution.network.variables.names", ("a",) * 6, "different from each other; got 'a' twice"),
    ("IsingLasso", "solution.network.variables.names", (1, 2, 3, 4, 5, 6), r"Variables.names is not tuple\[str, ...\]"),
    ("IsingLasso", "solution.network.variables.names", ("a",), "one entry per"),
    ("IsingLasso", "solution.network.fields", put(0, np.nan), "fields must be finite"),
    ("IsingLasso", "solution.network.fields", lambda a: a[:-1], "one value per node"),
    ("IsingLasso", "solution.network.fields", lambda a: a.astype("f4"), "Network.fields is not"),
    ("IsingLasso", "solution.network.pair_parameters", put(0, np.inf), "pair_parameters must be finite"),
    ("IsingLasso", "solution.network.pair_parameters", lambda a: a[:-1], "entries of all blocks"),
    ("IsingLasso", "solution.network.pairs", put((0, 1), 6), "nodes from 0 to 5"),
    ("IsingLasso", "solution.network.pairs", put((0, 0), -1), "nodes from 0 to 5"),
    ("IsingLasso", "solution.network.pairs", lambda a: np.repeat(a[:1], len(a), axis=0), "each pair once"),
    ("IsingLasso", "solution.alpha", "0.1", "Solution.alpha is not float"),
    ("IsingLasso", "solution.n_iter", 1.5, "Solution.n_iter is not int"),
    ("IsingLasso", "solution.converged", 1, "Solution.converged is not bool"),
    ("IsingLasso", "data.n_rows", -1.0, "number of rows"),
    ("IsingLasso", "data.n_rows", None, "TableSummary.n_rows is not float"),
    ("IsingLasso", "data.pair_counts", lambda a: a[:-1], "counts of a fit"),
    ("IsingLasso", "data.shares", lambda a: a[:-1], "one entry per category"),
    ("IsingLasso", "method.estimator", "magic", "estimator must be one of"),
    ("IsingLasso", "method.selector.alpha", "much", "Fixed.alpha is not float"),
    ("IsingLassoEBIC", "method.selector.gamma", None, "EBIC.gamma is not float"),
    ("IsingLasso", "method.tol", "small", "Method.tol is not float"),
    ("IsingLasso", "coding", None, "Fit.coding is not Coding"),
    ("IsingLasso", "coding.missing", "magic", "not as 'magic'"),
    ("IsingLasso", "coding.columns", (), "one rule per column"),
    ("IsingLasso", "coding.columns.0.entries", {"a": 7}, "numbered from 0"),
    ("IsingLassoEBIC", "selection.path.tol", "x", "Path.tol is not float"),
    ("IsingLassoEBIC", "selection.path.solutions.0.network.pairs", lambda a: a + 9, "pairs"),
    (
        "IsingLassoEBIC",
        "selection.path.solutions.0.network",
        Network([0.0], np.empty((0, 2), int), []),
        "the same columns",
    ),
    ("IsingLassoStARS", "selection.stability.index", 99, "one of the alphas"),
    ("IsingLassoStARS", "selection.stability.index", -1, "one of the alphas"),
    ("IsingLassoStARS", "selection.stability.monotone", lambda a: a[:-1], "one value per alpha"),
    ("IsingLassoStARS", "selection.stability.edge_frequencies.0", sp.csr_array((3, 3)), "every pair of columns"),
    ("IsingLassoCV", "selection.evidence.values", lambda a: a[:-1], "one value per alpha"),
    ("IsingLassoCV", "selection.evidence.kind", "omen", "Evidence.kind is not"),
    ("IsingLassoCV", "selection.evidence.choice", 10**6, "chooses one"),
    ("IsingNetwork", "selection.stages", [[1]], "Selection.stages is not"),
    ("IsingNetwork", "selection.stages.number", 2, "from one of its stages"),
    ("IsingNetwork", "selection.stages.reason", "whim", "TwoStageRecord.reason is not"),
    ("IsingNetwork", "selection.stages.each.0.n_edges", "many", "StageRecord.n_edges is not int"),
    ("IsingNetwork", "refits.edge_errors", lambda a: a[1:], "one entry per edge"),
    ("IsingNetwork", "refits.edges", lambda a: a[1:], "one entry per edge"),
    ("IsingNetwork", "refits.covariates", np.ones(1), "per coupling with a covariate"),
    ("IsingNetwork", "edge_q", np.ones(1), "one entry per edge"),
    ("imputed", "missing.treatment", "magic", "not by 'magic'"),
    ("imputed", "missing.patterns", lambda a: a[:, 1:], "one entry per column"),
    ("imputed", "missing.edge_information", lambda a: a[1:], "one entry per edge"),
    ("imputed", "missing.settled", "soon", "Missing.settled is not int"),
    ("imputed", "missing.column_shares", lambda a: a[1:], "one entry per column"),
    ("imputed", "method", Fixed(0.1), "Fit.method is not Method"),
    ("imputed", "method", None, "Fit.method is not Method"),
]


@pytest.mark.parametrize(("which", "place", "value", "message"), WRONG)
def test_records_that_do_not_fit_together(which, place, value, message, tmp_path):
    path = tmp_path / "damaged.npz"
    save(forged(FITTED[which], place, value), path)
    with pytest.raises(DataError, match=message) as caught:
        load(path)
    assert "damaged.npz" in str(caught.value)
    assert len(str(caught.value)) < 600


def test_no_object_is_ever_unpickled(valid, tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("unpickled",)

    content = npy(np.array([Evil()] * 6, dtype=object), version=(1, 0), allow_pickle=True)
    path = tmp_path / "evil.npz"
    path.write_bytes(packed({**valid["IsingLasso"], "a0.npy": content}))
    with pytest.raises(DataError, match="an array of type object, not of numbers or text"):
        load(path)


def test_deep_headers(tmp_path):
    path = tmp_path / "deep.npz"
    path.write_bytes(packed({"header.npy": npy(np.frombuffer(b"[" * 10**6, dtype=np.uint8))}))
    with pytest.raises(DataError, match="damaged"):
        load(path)


# --- whatever the bytes are -------------------------------------------------------------------------------------------


def survives(content, path):
    """Load these bytes: an object that can predict, or one of our errors."""
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = load(path, max_bytes=10**7)
        except (DataError, LimitError):
            return
    model = found if isinstance(found, Network) else found.network
    assert np.isfinite(model.conditional_probabilities(np.zeros((1, model.n_features), dtype=np.uint8))).all()
    if found is not model:
        found.edges()


@given(data=st.data())
def test_mutated_bytes(data, valid, tmp_path_factory):
    content = bytearray(packed(valid[data.draw(st.sampled_from(sorted(valid)))]))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, max(len(content) - 1, 0)))
        kind = data.draw(st.sampled_from(["flip", "cut", "delete", "insert"]))
        if kind == "flip" and content:
            content[place] ^= data.draw(st.integers(1, 255))
        elif kind == "cut":
            del content[place:]
        elif kind == "delete":
            del content[place : place + data.draw(st.integers(1, 50))]
        else:
            content[place:place] = data.draw(st.binary(min_size=1, max_size=20))
    survives(bytes(content), tmp_path_factory.getbasetemp() / "fuzz.npz")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["same", "list", "mapping", "array", "sparse", "Levels"]),
            inner,
            max_size=2,
        )
    ),
    max_leaves=4,
)


@given(data=st.data())
def test_mutated_content(data, valid, tmp_path_factory):
    """Mutations that keep the archive valid, so that they reach the checks behind it."""
    entries = dict(valid[data.draw(st.sampled_from(sorted(valid)))])
    header = header_in(entries)
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(entries)))
        if name != "header.npy":
            array = bytearray(entries[name])
            for _ in range(data.draw(st.integers(0, 3)) if array else 0):
                array[data.draw(st.integers(0, len(array) - 1))] = data.draw(st.integers(0, 255))
            entries[name] = bytes(array[: data.draw(st.just(len(array)) | st.integers(0, len(array)))])
            continue
        part = header
        while True:
            key = data.draw(st.sampled_from(sorted(part) if isinstance(part, dict) else range(len(part))))
            if not (isinstance(part[key], dict | list) and part[key] and data.draw(st.booleans())):
                break
            part = part[key]
        part[key] = data.draw(JSON)
    survives(packed(with_header(entries, header)), tmp_path_factory.getbasetemp() / "fuzz.npz")
