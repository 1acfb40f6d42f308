"""Model files: what comes back is what was saved; what was not saved by us gives one clear error."""

import io
import json
import math
import pickle
import warnings
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import KFold

import isinglass
from isinglass import (
    ExactIsing,
    Fit,
    IsingLasso,
    IsingLassoCV,
    IsingLassoEBIC,
    IsingLassoStARS,
    IsingNetwork,
    Network,
    NodewiseIsing,
    load,
    read_binary,
    save,
    simulate,
)
from isinglass.archive import DamagedError
from isinglass.errors import DataError, LimitError
from isinglass.select.outcome import fit_table
from isinglass.storage import NotStorableError, from_json, to_json

MODEL = simulate.grid_network(2, 3, couplings="mixed", strength=1.5, fields="balanced", random_state=4)
X = simulate.exact_sample(MODEL, 400, random_state=0)
NAMES = ["</script>", "ä\U0001f600", "", "x" * 3000, "a,b", "\x00\n"]
FRAME = pd.DataFrame(X, columns=NAMES)
GRID = [0.2, 0.1, 0.05, 0.02, 0.01, 0.0]

ESTIMATORS = [
    IsingLasso(0.05, penalty_weights=np.where(np.eye(6), 0.0, 1.5)),
    IsingLassoStARS(12, n_subsamples=6, random_state=0, threshold=0.1),
    IsingLassoEBIC(GRID, gamma=0.5),
    IsingLassoCV(tuple(GRID), cv=4, random_state=0),
    IsingNetwork(),
    NodewiseIsing(0.03, rule="or"),
    NodewiseIsing(criterion="ebic", standardize=True),
    ExactIsing(0.02),
]
FITTED = {type(estimator).__name__: estimator.fit(FRAME).fit_ for estimator in ESTIMATORS}
FITTED["published"] = fit_table(read_binary(FRAME), "bmn", {"tolerance": 1e-4}, choice={"alpha": 0.05})
HOLES = FRAME.mask(np.random.default_rng(0).random(FRAME.shape) < 0.01)
FITTED["imputed"] = fit_table(read_binary(HOLES, missing="impute"), choice={"alpha": 0.05})
FITTED["zeroed"] = fit_table(read_binary(HOLES, missing="zero"), choice={"alpha": 0.05})
FITTED["dropped"] = fit_table(read_binary(HOLES, missing="drop"), choice={"alpha": 0.05})
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
        return type(one) is type(two) and all(same(getattr(one, k), getattr(two, k)) for k in one.__dataclass_fields__)
    return one == two


def round_trip(fitted, folder):
    save(fitted, folder / "model.npz")
    return load(folder / "model.npz")


# --- there and back ---------------------------------------------------------------------------------------------------


@every
def test_everything_comes_back(fit, tmp_path):
    again = round_trip(fit, tmp_path)
    assert isinstance(again, Fit)
    assert same(again, fit)
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
    table = read_binary(words, encode=dict.fromkeys(NAMES, ("no", "yes")), binarize={"age": 50})
    again = round_trip(IsingLasso().fit(table).fit_, tmp_path)
    assert again.encoding["a,b"] == ("no", "yes")
    assert again.coding == table.coding
    assert again.read(words.assign(more="?")[["more", *words.columns[::-1]]]).X.tolist() == table.X.tolist()
    assert round_trip(IsingLasso().fit(X).fit_, tmp_path).coding.names is None
    weighted = round_trip(IsingLasso().fit(X, sample_weight=np.linspace(0.1, 1, 400)).fit_, tmp_path)
    assert weighted.edge_counts.dtype == float


@pytest.mark.filterwarnings("ignore::isinglass.errors.ConstantColumnWarning")
def test_networks_without_edges_and_with_constant_columns(tmp_path):
    table = FRAME.assign(never=0)
    for estimator in (IsingLasso(5.0), IsingLassoEBIC([0.6, 0.55]), NodewiseIsing(criterion="ebic"), ExactIsing(5.0)):
        fit = estimator.fit(table).fit_
        assert same(round_trip(fit, tmp_path), fit)


def test_a_chain_that_separates_has_finite_scores(tmp_path):
    twins = np.column_stack([X[:, 0], X[:, 0], X[:, 1]])
    net = IsingLassoEBIC([0.9, 0.1, 0.0001], relaxed=True).fit(twins)
    assert np.isfinite(net.ebic_path_).all()
    assert round_trip(net.fit_, tmp_path).ebic_path.tolist() == net.ebic_path_.tolist()


# --- the header -------------------------------------------------------------------------------------------------------


def header_of(path):
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read("header.json"))


def test_what_the_header_says(tmp_path):
    save(FITTED["IsingLassoStARS"], tmp_path / "model.npz")
    header = header_of(tmp_path / "model.npz")
    assert header["format"] == "isinglass model"
    assert (header["schema"], header["class"], header["criterion"]) == (4, "Fit", "stars")
    assert header["names"] == NAMES
    assert dict(header["choice"]["mapping"])["threshold"] == 0.1
    assert header["versions"]["isinglass"] == isinglass.__version__
    assert header["versions"]["numpy"] == np.__version__
    assert header["certificate"]["kkt_residual"] == FITTED["IsingLassoStARS"].solution.kkt_residual
    assert header["not_stored"] == []


def test_what_cannot_be_stored_is_named(tmp_path):
    net = IsingLassoCV(GRID, cv=KFold(3), random_state=np.random.default_rng(0)).fit(X)
    again = round_trip(net.fit_, tmp_path)
    assert sorted(header_of(tmp_path / "model.npz")["not_stored"]) == ["choice.n_folds", "choice.random_state"]
    assert again.evidence.values.tolist() == net.cv_results_["mean_test_score"].tolist()


@pytest.mark.parametrize("values", [[Decimal(1), Decimal(2)], pd.to_datetime(["2020", "2021"])])
def test_values_that_no_file_holds_are_not_forgotten(values, tmp_path):
    frame = pd.DataFrame({"a": [*values] * 5, "b": [0, 1] * 5})
    net = IsingLasso().fit(read_binary(frame, encode={"a": tuple(values)}))
    with pytest.raises(DataError, match=r"numbers or text to be saved; got (Decimal|Timestamp)"):
        net.fit_.save(tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        3,
        -0.0,
        1e-320,
        "ä",
        [1, [2.5]],
        (1, (2,)),
        {"Yes": 1, None: 0, 1.5: (0, None)},
        math.inf,
        -math.inf,
        {},
    ],
)
def test_values_come_back(value):
    assert same(from_json(json.loads(json.dumps(to_json(value)))), value)


def test_odd_values():
    assert math.isnan(from_json(to_json(math.nan)))
    assert to_json(np.float32(0.5)) == 0.5
    assert to_json(np.int8(3)) == 3
    with pytest.raises(NotStorableError, match="Generator"):
        to_json([np.random.default_rng(0)])
    for bad in ({}, {"float": "1"}, {"tuple": 3}, {"mapping": [[1]]}, {"mapping": 3}, {"what": 1}):
        with pytest.raises(DamagedError, match="unknown kind"):
            from_json(bad)


# --- what is not ours -------------------------------------------------------------------------------------------------


def test_what_cannot_be_saved(tmp_path):
    bad = [
        (IsingLasso().fit(X), "must be a Fit or a Network; got IsingLasso. Pass its fit_."),
        (FITTED["IsingLasso"].solution, "got Solution"),
        (None, "got NoneType"),
    ]
    for fitted, message in bad:
        with pytest.raises(DataError, match=message):
            save(fitted, tmp_path / "model.npz")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="path must be a file in a folder that exists"):
        save(FITTED["IsingLasso"], tmp_path / "nowhere" / "model.npz")


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
    with pytest.raises(DataError, match=r"path must be a complete model file that isinglass wrote; .*file.npz"):
        load(path)


def test_folders_and_missing_files(tmp_path):
    with pytest.raises(DataError, match="got the folder"):
        load(tmp_path)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "none.npz")
    with pytest.raises(DataError, match="max_bytes must be an integer of at least 1; got 0"):
        load(tmp_path / "none.npz", max_bytes=0)


def test_large_files(tmp_path):
    path = tmp_path / "model.npz"
    save(FITTED["IsingLasso"], path)
    with pytest.raises(LimitError, match=r"at most 100 bytes when unpacked.*it has .* bytes.*larger max_bytes"):
        load(path, max_bytes=100)
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(entry.file_size for entry in archive.infolist())
    assert unpacked > path.stat().st_size
    with pytest.raises(LimitError, match=f"it unpacks to {unpacked} bytes"):
        load(path, max_bytes=unpacked - 1)
    load(path, max_bytes=unpacked)
    wide = Network(np.zeros(50_000), [[0, 49_999]], [1.0])  # whose dense couplings would take 20 GB
    save(wide, path)
    assert load(path, max_bytes=2_000_000) == wide


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


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0))
    return buffer.getvalue()


@pytest.fixture(scope="module")
def valid(tmp_path_factory):
    """The entries of one file of every class."""
    entries_of.folder = tmp_path_factory.mktemp("valid")
    return {name: entries_of(fit) for name, fit in FITTED.items()} | {"Network": entries_of(MODEL)}


def change_header(**changes):
    def change(entries):
        header = json.loads(entries["header.json"])
        for key, value in changes.items():
            if value is KeyError:
                del header[key]
            else:
                header[key] = value(header[key]) if callable(value) else value
        return {**entries, "header.json": json.dumps(header).encode()}

    return change


def change_array(name, edit):
    def change(entries):
        array = np.load(io.BytesIO(entries[f"{name}.npy"]))
        return {**entries, f"{name}.npy": npy(edit(array))}

    return change


def put(index, value):
    def edit(array):
        array[index] = value
        return array

    return edit


def drop(name):
    return lambda entries: {key: value for key, value in entries.items() if key != name}


DAMAGE = [
    ("IsingLasso", change_header(format="other"), "not a model file"),
    ("IsingLasso", change_header(schema=1), "written by an older isinglass.*fit the table again"),
    ("IsingLasso", change_header(schema=3), "written by an older isinglass.*fit the table again"),
    ("IsingLasso", change_header(schema=2), "written by an older isinglass.*fit the table again"),
    ("IsingLasso", change_header(schema=5), "layout 5, and this version of isinglass reads 4"),
    ("IsingLasso", change_header(**{"class": "Pipeline"}), "unknown class, 'Pipeline'"),
    ("IsingLasso", change_header(**{"class": "IsingEstimator"}), "unknown class"),
    ("IsingLasso", change_header(n_features="6"), "number of columns is not a number"),
    ("IsingLasso", change_header(n_features=5), "names are not one text per column"),
    ("IsingLasso", change_header(n_features=0, names=[]), "number of columns"),
    ("IsingLasso", change_header(names=["a"] * 6), "two of its columns have one name"),
    ("IsingLasso", change_header(names=[1, 2, 3, 4, 5, 6]), "one text per column"),
    ("IsingLasso", change_header(certificate=KeyError), "no certificate"),
    ("IsingLasso", change_header(certificate=lambda c: {**c, "alpha": "0.1"}), r"certificate\.alpha is not a number"),
    ("IsingLasso", change_header(certificate=lambda c: {**c, "alpha": -1.0}), "alpha is not a number of at least 0"),
    ("IsingLasso", change_header(certificate=lambda c: {**c, "n_iter": 1.5}), r"n_iter is not a whole number"),
    ("IsingLasso", change_header(certificate=lambda c: {**c, "converged": 1}), "whether it converged"),
    ("IsingLasso", change_header(n_rows=-1), "number of rows"),
    ("IsingLasso", change_header(n_rows=None), "n_rows is not a number"),
    ("IsingLasso", drop("fields.npy"), r"it has no fields\.npy"),
    ("IsingLasso", lambda entries: {**entries, "more.npy": npy(np.zeros(1))}, "'more.npy' that does not belong there"),
    ("IsingLasso", lambda entries: {**entries, "../evil": b""}, "does not belong there"),
    ("IsingLasso", change_array("fields", put(0, np.nan)), "fields is not finite"),
    ("IsingLasso", change_array("fields", lambda a: a[:-1]), "fields has shape"),
    ("IsingLasso", change_array("fields", lambda a: a.astype("f4")), "type <f4"),
    ("IsingLasso", change_array("edge_values", put(0, np.inf)), "edge_values is not finite"),
    ("IsingLasso", change_array("edge_values", put(0, 0.0)), "coupling 0"),
    ("IsingLasso", change_array("edge_values", lambda a: a[:-1]), "edge_index has shape"),
    ("IsingLasso", change_array("edge_index", put((0, 1), 6)), "a pair that is not there"),
    ("IsingLasso", change_array("edge_index", put((0, 0), -1)), "a pair that is not there"),
    ("IsingLasso", change_array("edge_index", lambda a: a[:, ::-1].copy()), "a pair that is not there"),
    ("IsingLasso", change_array("edge_index", lambda a: a[::-1].copy()), "not in order"),
    ("IsingLasso", change_array("edge_index", lambda a: np.repeat(a[:1], len(a), axis=0)), "not in order"),
    ("IsingLasso", change_array("edge_counts", put((0, 0), -1)), "not counts"),
    ("IsingLasso", change_array("marginals", put(0, 1.5)), "marginals"),
    ("IsingLassoEBIC", change_header(path=KeyError), "evidence|path"),
    ("IsingLassoEBIC", change_header(path={"tol": "x"}), r"path\.tol is not a number"),
    ("IsingLassoEBIC", change_array("path.alpha", lambda a: a[::-1].copy()), "does not decrease"),
    ("IsingLassoEBIC", change_array("path.bounds", put(-1, 0)), "does not divide"),
    ("IsingLassoEBIC", change_array("path.bounds", put(1, 10**15)), "does not divide"),
    ("IsingLassoEBIC", change_array("path.edge_index", put((0, 0), 5)), "a pair that is not there"),
    ("IsingLassoEBIC", change_array("path.edge_values", put(-1, 0.0)), "coupling 0"),
    ("IsingLassoEBIC", change_array("path.fields", put((0, 0), np.nan)), "not finite"),
    ("IsingLassoStARS", change_array("stability.shares", put(0, 1.5)), "not in"),
    ("IsingLassoStARS", change_header(stability=lambda s: {**s, "index": 99}), "choice is not on the grid"),
    ("IsingLassoStARS", change_header(stability=lambda s: {**s, "index": -1}), "choice is not on the grid"),
    ("IsingLasso", change_header(coding=KeyError), "cannot be read"),
    ("IsingLasso", change_header(coding={"mapping": []}), "cannot be read"),
    ("IsingLassoCV", change_array("evidence.values", lambda a: a[:-1]), r"evidence\.values has shape"),
    ("published", change_header(tol="x"), "tol is not a number"),
    ("published", change_header(method="magic"), "method is unknown"),
    ("published", change_header(stability={"index": 0}), "stability"),
    ("Network", change_array("edge_index", lambda a: a[::-1].copy()), "not in order"),
]


@pytest.mark.parametrize(("cls", "change", "message"), DAMAGE)
def test_damaged_content(cls, change, message, valid, tmp_path):
    path = tmp_path / "damaged.npz"
    path.write_bytes(packed(valid[cls]))
    load(path)  # undamaged, it can be read
    path.write_bytes(packed(change(dict(valid[cls]))))
    with pytest.raises(DataError, match=message) as caught:
        load(path)
    assert "damaged.npz" in str(caught.value)
    assert len(str(caught.value)) < 600


def test_no_object_is_ever_unpickled(valid, tmp_path):
    class Evil:
        def __reduce__(self):
            return print, ("unpickled",)

    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([Evil()] * 6, dtype=object), version=(1, 0), allow_pickle=True)
    path = tmp_path / "evil.npz"
    path.write_bytes(packed({**valid["IsingLasso"], "fields.npy": buffer.getvalue()}))
    with pytest.raises(DataError, match="fields: it must be an array of numbers or text"):
        load(path)


def test_deep_headers(tmp_path):
    path = tmp_path / "deep.npz"
    path.write_bytes(packed({"header.json": b"[" * 10**6}))
    with pytest.raises(DataError, match="cannot be read"):
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
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tuple", "mapping", "float", "array"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@given(data=st.data())
def test_mutated_content(data, valid, tmp_path_factory):
    """Mutations that keep the archive valid, so that they reach the checks behind it."""
    entries = dict(valid[data.draw(st.sampled_from(sorted(valid)))])
    header = json.loads(entries["header.json"])
    for _ in range(data.draw(st.integers(1, 3))):
        name = data.draw(st.sampled_from(sorted(entries)))
        if name != "header.json":
            array = bytearray(entries[name])
            for _ in range(data.draw(st.integers(0, 3)) if array else 0):
                array[data.draw(st.integers(0, len(array) - 1))] = data.draw(st.integers(0, 255))
            entries[name] = bytes(array[: data.draw(st.just(len(array)) | st.integers(0, len(array)))])
            continue
        part = header
        key = data.draw(st.sampled_from(sorted(part)))
        if isinstance(part[key], dict) and part[key] and data.draw(st.booleans()):
            part = part[key]
            key = data.draw(st.sampled_from(sorted(part)))
        part[key] = data.draw(JSON)
    entries["header.json"] = json.dumps(header).encode()
    survives(packed(entries), tmp_path_factory.getbasetemp() / "fuzz.npz")
