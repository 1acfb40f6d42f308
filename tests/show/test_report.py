"""The page is one file that loads nothing, holds what it was given, and takes no label for markup."""

import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from fnmatch import fnmatch
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path as FilePath

import numpy as np
import pandas as pd
import pytest
from choices import isingfit
from hypothesis import given
from hypothesis import strategies as st
from networks import make_network, make_table
from reports import build_report

import isinglass
from isinglass import (
    EBIC,
    Coding,
    Method,
    Network,
    Path,
    Solution,
    StARS,
    Variables,
    as_table,
    bootstrap,
    ising_path,
    metrics,
    simulate,
)
from isinglass.arrays import round_digits
from isinglass.datasets import load_senate109
from isinglass.errors import DataError
from isinglass.estimators import IsingLasso, IsingLassoCV, IsingLassoEBIC, IsingLassoStARS
from isinglass.evaluate import centrality
from isinglass.show.report import page, page_data, write_report

ROOT = FilePath(__file__).resolve().parents[2]
HOSTILE = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(2)>",
    "<!-- --> ]]>",
    "@@DATA@@",
    "\u2028\u2029\u0000",
    "\\u003c & ' \" \ud800",
]


class Reader(HTMLParser):
    """Collects the elements of a page, and the text of its scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements, self.texts, self.current = [], {}, None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.current = (tag, dict(attrs).get("id") or dict(attrs).get("type"))

    def handle_endtag(self, tag):
        self.current = None

    def handle_data(self, data):
        self.texts[self.current] = self.texts.get(self.current, "") + data


def data_of(text: str) -> dict:
    return json.loads(Reader(text).texts["script", "report-data"])


def decode(data: dict, k: int) -> dict[tuple[int, int], float]:
    """Return the network at alpha number k as the page's script reads it."""
    path, found = data["path"], {}
    for e, (s, t, first, values) in enumerate(zip(path["s"], path["t"], path["first"], path["values"], strict=True)):
        inside = 0 <= k - first < len(values)
        value = path["exact"][e] if k == path["selected"] else values[k - first] if inside else 0.0
        if value != 0.0:
            found[s, t] = value
    return found


@pytest.fixture(scope="module")
def table():
    model = simulate.chain_network(8, strength=2.0, fields="balanced")
    return simulate.exact_sample(model, 400, random_state=0)


@pytest.fixture(scope="module")
def path(table):
    return ising_path(table, 12)


# ------------------------------------------------------------------------------------------- one file


LINKS = {"href", "src", "srcset", "action", "formaction", "poster", "data", "xlink:href", "background"}


def test_page_loads_nothing(path, table):
    reader = Reader(build_report(path[5], path=path, X=table))
    links = [value for _, attributes in reader.elements for name, value in attributes.items() if name in LINKS]
    assert links
    assert all(link.startswith("#") or link == "data:," for link in links)
    css = reader.texts["style", None]
    assert "url(" not in css
    assert "@import" not in css
    script = reader.texts["script", "module"]
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|EventSource|sendBeacon|eval|Function|import)\s*\(", script)
    assert "innerHTML" not in script


def test_policy_admits_the_script_and_the_style_and_nothing_else(path):
    reader = Reader(build_report(path[5]))
    (policy,) = [a["content"] for _, a in reader.elements if a.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data: blob:"
    assert "unsafe" not in policy
    for rule, place in (("script-src", ("script", "module")), ("style-src", ("style", None))):
        digest = base64.b64encode(hashlib.sha256(reader.texts[place].encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    # What the policy would silently switch off.
    assert not [a for _, a in reader.elements if "style" in a or any(name.startswith("on") for name in a)]


def test_equal_arguments_give_equal_pages(path, table):
    first, second = (build_report(path[5], path=path, X=table, groups=list("aabbccdd")) for _ in range(2))
    assert first == second


@given(st.lists(st.text() | st.sampled_from(HOSTILE), min_size=2, max_size=5, unique=True), st.text())
def test_labels_and_texts_come_back_as_they_were(names, text):
    p = len(names)
    model = Network.from_couplings(np.ones((p, p)) - np.eye(p), np.zeros(p), names)
    page = build_report(model, groups=names, title=text, settings={text: text}, command=text, wording=names)
    reader, data = Reader(page), data_of(page)
    assert [tag for tag, _ in reader.elements].count("script") == 2
    assert data["nodes"]["names"] == names
    assert [group["name"] for group in data["groups"]] == names
    assert data["title"] == data["command"] == text
    assert data["settings"] == {text: text}
    assert {"label": "wording", "values": names} in data["nodes"]["columns"]
    json_text = reader.texts["script", "report-data"]
    assert json_text.isascii()
    assert not set("<>&") & set(json_text)


def test_a_page_without_a_title_is_headed_all_the_same():
    reader = Reader(build_report(Network.from_couplings([[0.0]], [0.0]), title=None))
    assert reader.texts["title", None] == "Network"


@pytest.mark.filterwarnings("ignore::isinglass.errors.ConstantColumnWarning")
def test_the_other_category_of_a_constant_is_not_named():
    frame = pd.DataFrame({"d": [7.5] * 30, "color": ["red", "blue", "green"] * 10})
    table = as_table(frame, encode="auto", kinds={"color": "nominal"})
    found = data_of(build_report(Method(selector=isinglass.Fixed(0.1)).fit(table)))["categories"]
    assert found["labels"] == [["7.5", None], ["blue", "green", "red"]]


def test_title_is_escaped():
    reader = Reader(build_report(Network.from_couplings([[0.0]], [0.0]), title=HOSTILE[0]))
    assert reader.texts["title", None] == HOSTILE[0]
    assert reader.texts["h1", "title"].strip() == HOSTILE[0]


def test_files_of_the_page_are_packaged():
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    excluded = re.findall(r'"([^"]+)"', re.search(r"wheel\.exclude = \[(.*)\]", pyproject)[1])
    for name in (*page.SCRIPTS, "page.html", "page.css"):
        assert files("isinglass.show.report").joinpath(name).is_file()
        assert not any(fnmatch(f"src/isinglass/show/report/{name}", pattern) for pattern in excluded)


# ------------------------------------------------------------------------------------------- the path inside


def test_every_network_of_the_path_is_there(path):
    selected = 5
    data = data_of(build_report(path[selected], path=path))
    assert data["path"]["alphas"] == path.alphas.tolist()
    assert data["path"]["n_edges"] == path.n_edges.tolist()
    assert data["path"]["selected"] == selected
    for k, solution in enumerate(path):
        found = decode(data, k)
        assert sorted(found) == [tuple(pair) for pair in solution.edge_index.tolist()]
        np.testing.assert_allclose([found[pair] for pair in sorted(found)], solution.edge_values, rtol=1e-5)
    exact = decode(data, selected)
    assert [exact[pair] for pair in sorted(exact)] == path[selected].edge_values.tolist()


def test_edges_that_leave_and_return_are_kept():
    def network(alpha, coupling):
        return Solution.from_dense(alpha, np.array([[0.0, coupling], [coupling, 0.0]]), np.zeros(2))

    path = Path(tuple(network(alpha, value) for alpha, value in ((4.0, 0.0), (3.0, 1e-9), (2.0, 0.0), (1.0, -2.0))))
    data = data_of(build_report(path[0], path=path))
    assert [decode(data, k) for k in range(4)] == [{}, {(0, 1): 1e-9}, {}, {(0, 1): -2.0}]


def test_too_many_edges_are_cut_and_said(path):
    dense = len(path) - 1
    data = data_of(build_report(path[dense], path=path, max_edges=5))
    assert len(data["path"]["s"]) == 5
    assert data["path"]["n_pairs"] > 5
    assert data["path"]["n_edges"] == path.n_edges.tolist()  # counts stay complete
    strongest = np.sort(np.abs(path[dense].edge_values))[-5:]
    np.testing.assert_array_equal(np.sort(np.abs(data["path"]["exact"])), strongest)
    early = data_of(build_report(path[0], path=path, max_edges=5))["path"]
    assert path[0].n_edges == 0
    others = [k for k in range(len(path)) if path[k].n_edges > 5]
    assert max(early["first"]) <= others[0]  # nothing of the empty network: the first to enter


def test_senate_path_stays_small():
    senate = load_senate109()
    votes = as_table(senate.X, names=senate.names)
    path = ising_path(votes, 50)
    text = build_report(path[25], path=path, X=votes)
    assert path.n_edges.max() > 1000
    assert len(text.encode()) < 1_500_000


def test_positions_are_those_of_the_selected_network(path):
    def positions(**options):
        nodes = data_of(build_report(path[9], path=path, **options))["nodes"]
        return np.column_stack([nodes["x"], nodes["y"]])

    xy = positions()
    assert np.abs(xy).max() == 1.0
    assert len(np.unique(xy, axis=0)) == len(xy)
    np.testing.assert_array_equal(positions(random_state=0), xy)
    assert not np.array_equal(positions(random_state=1), xy)


# ------------------------------------------------------------------------------------------- what may be given


@pytest.mark.parametrize("p", [1, 2, 3])
def test_networks_without_edges(p):
    data = data_of(build_report(Network.from_couplings(np.zeros((p, p)), np.zeros(p))))
    assert data["path"]["n_edges"] == [0]
    assert data["path"]["alphas"] == [None]
    assert data["certificate"]["kkt_residual"] == [None]
    assert data["curve"] is None
    assert len(data["nodes"]["x"]) == p


def test_empty_path(table):
    path = ising_path(table, [10.0, 5.0])
    data = data_of(build_report(path[0], path=path))
    assert data["path"]["n_edges"] == [0, 0]
    assert data["path"]["values"] == []


def test_a_solution_brings_its_certificate(path):
    (certificate,) = (data_of(build_report(path[5]))["certificate"],)
    assert certificate["kkt_residual"] == [path[5].kkt_residual]
    assert certificate["duality_gap"] == [path[5].duality_gap]
    assert certificate["certified_zeros"] == [path[5].certified_zeros]
    assert certificate["converged"] == [True]
    assert certificate["relative_gap"] == [None]  # nothing says what the objective is without edges


def test_relative_gap_needs_the_path_or_the_table(path, table):
    by_path = data_of(build_report(path[5], path=path))["certificate"]
    means = table.mean(axis=0)
    null = -(means * np.log(means) + (1 - means) * np.log(1 - means)).sum()
    assert math.isclose(by_path["null_objective"], null, rel_tol=1e-9)
    assert math.isclose(by_path["relative_gap"][5], path[5].duality_gap / null, rel_tol=1e-9)
    by_table = data_of(build_report(path[5], X=table))["certificate"]
    assert math.isclose(by_table["relative_gap"][0], path[5].duality_gap / null, rel_tol=1e-9)
    assert by_path["tol"] == [path.tol] * len(path)


def test_the_selected_network_is_found_on_the_path(path):
    assert data_of(build_report(path[5].network, path=path))["path"]["selected"] == 5
    assert data_of(build_report(path[3], path=path))["path"]["selected"] == 3


def test_a_solution_between_the_alphas_gets_its_place(path, table):
    alpha = float(np.sqrt(path[4].alpha * path[5].alpha))
    between = ising_path(table, [alpha])[0]
    data = data_of(build_report(between, path=path))
    assert data["path"]["selected"] == 5
    assert data["path"]["alphas"] == [*path.alphas[:5], alpha, *path.alphas[5:]]
    assert [data["path"]["exact"][k] for k in np.flatnonzero(data["path"]["exact"])] == between.edge_values.tolist()


def test_nodes_with_an_alpha_each(table):
    data = data_of(build_report(isingfit(table)))
    assert data["path"]["per_node"] is True
    assert data["path"]["alphas"] == [None]


@pytest.fixture(scope="module")
def frame(table):
    return pd.DataFrame(table, columns=list("abcdefgh"))


def test_an_estimator_gives_what_it_knows(frame):
    net = IsingLassoStARS(alphas=12, n_subsamples=4, threshold=0.1, random_state=0).fit(frame)
    data = data_of(build_report(net, X=frame))
    chosen = net.fit_.selection.stability.index
    assert data["nodes"]["names"] == list(frame.columns)
    assert data["path"]["selected"] == chosen
    assert data["path"]["alphas"] == [solution.alpha for solution in net.fit_.selection.path]
    assert data["curve"]["kind"] == "instability"
    assert data["settings"].keys() == {"method", "choice", "tol", "max_iter"}
    assert data["settings"]["choice"] == net.fit_.method.selector.words
    assert data["certificate"]["kkt_residual"][chosen] == net.fit_.solution.kkt_residual
    assert data["n_rows"] == len(frame)
    labels = [column["label"] for column in data["edge_columns"]]
    assert labels == ["stability", "n11", "n10", "n01", "n00", "log_odds_ratio"]
    assert data_of(build_report(net, settings={"a": 1}))["settings"] == {"a": "1"}


def test_other_estimators(frame, table):
    net = IsingLassoEBIC(alphas=10).fit(frame)
    data = data_of(build_report(net))
    assert (data["curve"]["kind"], data["curve"]["gamma"]) == ("ebic", net.gamma)
    assert data["curve"]["values"] == net.fit_.selection.evidence.values.tolist()
    assert data["curve"]["alphas"][data["curve"]["choice"]] == net.alpha_
    net = IsingLassoCV(alphas=10, random_state=0).fit(table)  # no frame: the edges are a structured array
    data = data_of(build_report(net))
    assert (data["curve"]["kind"], data["curve"]["rule"]) == ("score", net.rule)
    assert data["curve"]["values"] == net.cv_results_["mean_test_score"].tolist()
    assert data["path"]["alphas"][data["path"]["selected"]] == net.alpha_
    assert [column["label"] for column in data["edge_columns"]] == ["n11", "n10", "n01", "n00", "log_odds_ratio"]
    net = IsingLasso(alpha=0.05).fit(frame)
    data = data_of(build_report(net))
    assert (data["path"]["alphas"], data["curve"]) == ([0.05], None)
    assert data["n_rows"] == len(frame)
    means = table.mean(axis=0)
    null = -(means * np.log(means) + (1 - means) * np.log(1 - means)).sum()
    assert math.isclose(data["certificate"]["relative_gap"][0], net.fit_.solution.duality_gap / null, rel_tol=1e-9)
    assert data["certificate"]["tol"] == [net.tol]


def test_a_column_of_edges_without_any_value_is_left_out():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"a": (x > 0).astype(int), "b": (x > 0.5).astype(int), "x": x, "y": rng.normal(size=200)})
    net = IsingLasso(alpha=0.2, kinds={"x": "continuous", "y": "continuous"}).fit(frame)
    assert np.isnan(net.edges()["partial_correlation"]).all()
    assert "partial_correlation" not in {each["label"] for each in data_of(build_report(net))["edge_columns"]}
    net = IsingLasso(alpha=0.2, kinds={"x": "continuous", "y": "continuous"}).fit(frame.assign(y=x + frame["y"]))
    assert "partial_correlation" in {each["label"] for each in data_of(build_report(net))["edge_columns"]}


def test_weights_of_a_table_count(table):
    weight = np.arange(len(table)) % 3 + 1.0
    weighted = make_table(table, sample_weight=weight)
    solution = ising_path(table, [0.05], sample_weight=weight)[0]
    data = data_of(build_report(solution, X=weighted))
    (accuracy,) = [column["values"] for column in data["nodes"]["columns"] if column["label"] == "accuracy"]
    repeated = np.repeat(table, weight.astype(int), axis=0)
    assert accuracy == pytest.approx(metrics.node_table(repeated, solution)["accuracy"])
    means = repeated.mean(axis=0)
    null = -(means * np.log(means) + (1 - means) * np.log(1 - means)).sum()
    assert data["certificate"]["null_objective"] == pytest.approx(null)


def test_node_measures(path, table):
    expected = metrics.node_table(table, path[5])
    data = data_of(build_report(path[5], X=table))
    columns = {column["label"]: column["values"] for column in data["nodes"]["columns"]}
    assert columns.keys() == {
        "closeness",
        "betweenness",
        "accuracy",
        "marginal_accuracy",
        "normalized_accuracy",
        "deviance_explained",
        "r_squared",
    }
    assert columns["accuracy"] == expected["accuracy"].tolist()
    assert data["n_rows"] == len(table)


@pytest.mark.parametrize("shift", [0, 1])
def test_an_array_is_read_as_the_table_of_the_fit(table, shift):
    """Its values are answers, not numbers of categories, which are others where an item is turned."""
    answers = table[:, ::2] + table[:, 1::2] + shift
    fitted = isinglass.IsingNetwork(kinds="ordinal", reverse=[1]).fit(answers)
    by_array, by_frame = (
        data_of(build_report(fitted, X=X)) for X in (answers, pd.DataFrame(answers, columns=fitted.network_.names))
    )
    for part in ("nodes", "check", "methods"):
        assert by_array[part] == by_frame[part]


def test_the_advice_about_missing_cells_can_be_followed(table):
    answers = pd.DataFrame(table[:, ::2] + table[:, 1::2] + 1.0, columns=list("abcd"))
    answers.iloc[3, 1] = np.nan
    fit = isinglass.IsingNetwork(kinds="ordinal", missing="impute").fit(answers).fit_
    with pytest.raises(DataError, match=r"Pass isinglass\.impute\(table\)\.table of the table .*read\(X\) of a fit"):
        build_report(fit, X=answers)
    assert data_of(build_report(fit, X=isinglass.impute(fit.read(answers)).table))["check"] is not None


def test_resamples_stand_beside_what_the_estimator_knows(table):
    net = IsingLasso(0.05).fit(table)
    found = bootstrap(table, net, n_boot=5, random_state=0)
    data = data_of(build_report(net, bootstrap=found))
    source, target, shares = (found.edges()[name] for name in ("source", "target", "inclusion"))
    known = {(s, t): share for s, t, share in zip(source, target, shares, strict=True)}
    pairs = zip(data["path"]["s"], data["path"]["t"], strict=True)
    assert data["edge_columns"][-1]["values"] == [known[f"x{s}", f"x{t}"] for s, t in pairs]
    with pytest.raises(DataError, match="bootstrap must be of a table with the nodes of the network"):
        build_report(net.network_.with_names(list("abcdefgh")), bootstrap=found)
    labels = [column["label"] for column in data["edge_columns"]]
    assert labels == ["n11", "n10", "n01", "n00", "log_odds_ratio", "mean", "q2.5", "q50", "q97.5", "inclusion"]


def test_groups_by_name_and_in_order(path):
    model = path[5].network
    by_order = data_of(build_report(model, groups=["b", "a", "b", None, "a", "a", "a", "a"]))
    by_name = dict(zip(model.names, ["b", "a", "b", None, "a", "a", "a", "a"], strict=True))
    assert by_order["nodes"]["groups"] == [0, 1, 0, -1, 1, 1, 1, 1]
    assert data_of(build_report(model, groups=by_name))["nodes"]["groups"] == by_order["nodes"]["groups"]
    partly = data_of(build_report(model, groups={"x1": 3}))
    assert partly["nodes"]["groups"] == [-1, 0, -1, -1, -1, -1, -1, -1]
    assert partly["groups"][0]["name"] == "3"


def test_group_colors(path):
    groups = list("abcabcab")
    data = data_of(build_report(path[5], groups=groups, group_colors={"c": "#123456", "a": "blue"}))
    colors = {group["name"]: group["color"] for group in data["groups"]}
    assert list(colors) == ["a", "b", "c"]
    assert (colors["a"], colors["c"]) == ("#0072b2", "#123456")
    assert colors["b"] not in (colors["a"], colors["c"])
    numbers = pd.Series([1.0, np.nan, 2.0] + [1.0] * 5)  # with a hole, whole numbers are floats
    data = data_of(build_report(path[5], groups=numbers, group_colors={1: "blue", 2: "red"}))
    assert data["groups"] == [{"name": "1", "color": "#0072b2"}, {"name": "2", "color": "#d55e00"}]
    assert data["nodes"]["groups"] == [0, -1, 1, 0, 0, 0, 0, 0]
    many = data_of(build_report(Network.from_couplings(np.zeros((20, 20)), np.zeros(20)), groups=range(20)))
    assert len({group["color"] for group in many["groups"][:7]}) == 7


def test_centralities_stand_beside_what_the_table_tells(path, table, monkeypatch):
    found = metrics.centrality(path[5], list("aabbccdd"))
    members = {"groups": list("aabbccdd")}
    given = {column["label"]: column["values"] for column in read_columns(path[5], X=table, **members)}
    for of in ("closeness", "betweenness", "bridge_strength"):
        np.testing.assert_allclose(given[of], found[of])
    np.testing.assert_allclose(given["accuracy"], metrics.node_table(table, path[5])["accuracy"])
    monkeypatch.setattr(centrality, "MOST_PATHS", 1)
    assert read_columns(path[5]) == []


def read_columns(*arguments, **options):
    return data_of(build_report(*arguments, **options))["nodes"]["columns"]


def test_curves(table):
    found = Method(selector=StARS(alphas=12, n_subsamples=4, threshold=0.1, random_state=0)).fit(table)
    stability = found.selection.stability
    data = data_of(build_report(found))
    curve = data["curve"]
    assert curve["alphas"] == stability.alphas.tolist()
    assert curve["threshold"] == stability.threshold
    assert curve["choice"] == stability.index
    np.testing.assert_array_equal(np.array(curve["values"], dtype=float), stability.instability)
    (shares,) = [column for column in data["edge_columns"] if column["label"] == "stability"]
    expected = stability.frequencies()[data["path"]["s"], data["path"]["t"]]
    assert shares["values"] == expected.tolist()
    for estimator, kind in ((IsingLassoCV(6, random_state=0), "score"), (IsingLassoEBIC(6), "ebic")):
        evidence = estimator.fit(table).fit_.selection.evidence
        curve = data_of(build_report(estimator))["curve"]
        assert (curve["kind"], curve["values"]) == (kind, evidence.values.tolist())
        assert (curve["errors"] is not None) == (kind == "score")


# ------------------------------------------------------------------------------------------- what may not


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_edges": 0}, "max_edges must be"),
        ({"path": [1]}, "path must be a Path, as ising_path returns it; got 'list'"),
        ({"path": np.arange(3)}, "path must be a Path, as ising_path returns it; got 'ndarray'"),
        ({"bootstrap": 3}, "bootstrap must be a Bootstrap, as bootstrap returns it; got 'int'"),
        ({"settings": ["alpha"]}, r"settings must be a mapping of names to values; got \['alpha'\]"),
        ({"groups": "abcdefgh"}, "groups must have one entry per node, by name or in order; got"),
        ({"groups": ["a"]}, r"groups must have one entry per node \(8\); got 1"),
        ({"groups": {"nobody": "a"}}, "groups must be labeled by the names of the nodes .* got 'nobody'"),
        ({"groups": list("abababab"), "group_colors": {"a": "url(x)"}}, "a color must be #rrggbb"),
        ({"groups": list("abababab"), "group_colors": {"z": "red"}}, r"groups that occur \('a', 'b'\); got 'z'"),
        ({"groups": list("abababab"), "group_colors": "red"}, "group_colors must be a mapping of groups to colors"),
        ({"group_colors": {"a": "red"}}, "group_colors must come with groups"),
        ({"groups": [[1]] * 8}, r"groups must be texts or numbers; got \[1\]"),
    ],
)
def test_bad_arguments_are_refused(path, options, message):
    with pytest.raises(DataError, match=message):
        build_report(path[5], **({"path": path} | options))


def test_other_results_are_refused(path):
    with pytest.raises(DataError, match=r"network must be a Network, a Solution, a fitted estimator .* got int"):
        build_report(3)
    with pytest.raises(DataError, match="result is not on the path"):
        build_report(Network.from_couplings(np.zeros((8, 8)) + 0.1 * (1 - np.eye(8)), np.zeros(8)), path=path)
    with pytest.raises(DataError, match="path must have 2 nodes"):
        build_report(Network.from_couplings(np.zeros((2, 2)), np.zeros(2)), path=path)


# ------------------------------------------------------------------------------------------- the file


def test_file_holds_the_page(tmp_path, path):
    target = tmp_path / "report.html"
    write_report(path[5], target, path=path, title="é")
    assert target.read_bytes() == build_report(path[5], path=path, title="é").encode("utf-8")
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_write_leaves_the_old_file(tmp_path, path, monkeypatch):
    target = tmp_path / "report.html"
    write_report(path[5], target)
    before = target.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(FilePath, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            write_report(path[6], target)
    with pytest.raises(DataError):
        write_report("nothing", target)
    assert target.read_bytes() == before
    assert list(tmp_path.iterdir()) == [target]


def test_a_missing_folder_is_refused(tmp_path, path):
    with pytest.raises(DataError, match=r"is a folder|its folder does not exist"):
        write_report(path[5], tmp_path / "nowhere" / "report.html")


# ------------------------------------------------------------------------------------------- small parts


def test_rounding_never_makes_zero():
    values = np.array([1e-300, -5e-324, 123456789.0, 0.1234567])
    assert round_digits(values).tolist() == [1e-300, -5e-324, 123457000.0, 0.123457]


def test_versions_are_on_the_page(path):
    assert data_of(build_report(path[5]))["versions"]["isinglass"] == isinglass.__version__


def test_tables_of_edges_stop_where_the_page_would_grow_too_large(monkeypatch):
    rng = np.random.default_rng(0)
    blocks = [b - b.mean(0) - b.mean(1)[:, None] + b.mean() for b in rng.normal(size=(3, 4, 4))]
    network = make_network([[0.0] * 4] * 3, [None] * 3, [[0, 1], [0, 2], [1, 2]], blocks=blocks)
    every = data_of(build_report(network))
    monkeypatch.setattr(page_data, "MOST_CELLS", 40)
    some = data_of(build_report(network))
    assert [table is None for table in every["edge_tables"]] == [False] * 3
    weakest = int(network.by_strength[-1])
    assert [table is None for table in some["edge_tables"]] == [k == weakest for k in range(3)]
    np.testing.assert_allclose(every["edge_tables"][0]["block"], blocks[0], rtol=1e-5)
    assert every["path"]["signed"] == [False] * 3


def test_null_objective_of_categories_is_their_entropy():
    codes = np.array([[0, 0], [1, 1], [2, 0], [2, 1]], dtype=np.uint8)
    table = make_table(codes, ["nominal", "binary"], sample_weight=np.array([1.0, 1.0, 1.0, 1.0]))
    network = make_network([[0, 0, 0], [0, 0]], [None, [0, 1]], [[0, 1]], blocks=[[[1.0], [0.0], [-1.0]]])
    found = data_of(build_report(network, X=table))
    shares = [[0.25, 0.25, 0.5], [0.5, 0.5]]
    expected = -sum(p * np.log(p) for share in shares for p in share)
    assert found["certificate"]["null_objective"] == pytest.approx(expected)
    assert found["categories"]["shares"] == shares
    assert found["edge_tables"][0]["counts"] == [[1, 0], [0, 1], [1, 1]]


@pytest.fixture(scope="module")
def adjusted():
    """A fit whose continuous column depends on a covariate, and its rows."""
    rng = np.random.default_rng(0)
    age, x = rng.normal(50, 10, 600).round(), rng.integers(0, 2, 600)
    y = np.round(20 + 0.5 * (age - 50) + 6 * x + rng.normal(0, 5, 600))
    frame = pd.DataFrame({"age": age, "x": x, "y": y})
    table = isinglass.as_table(frame, kinds={"age": "continuous", "y": "continuous"}, covariates=["age"])
    return Method(selector=isinglass.Fixed(0.01)).fit(table), frame


def test_expected_numbers_are_those_at_the_average_of_covariates(adjusted):
    fit, frame = adjusted
    (found,) = data_of(build_report(fit))["edge_tables"]
    observed = frame.groupby("x")["y"].mean()
    assert found["means"] == pytest.approx(observed.tolist(), abs=1.5)  # age does not depend on x


def test_couplings_of_covariates_have_minus_signs_and_a_unit(adjusted):
    variables = Variables.binary(["t-shirt", "winter"]).with_covariates(["winter"])
    network = Network([0, 0], [[0, 1]], [-1.5], variables=variables)
    assert page_data.list_covariates(network) == {"winter": "t-shirt −1.5"}
    assert "a column of numbers counts per standard deviation" in build_report(adjusted[0])


def test_the_entropy_is_no_objective_without_edges_where_there_are_covariates(adjusted):
    found = data_of(build_report(adjusted[0]))["certificate"]
    assert (found["null_objective"], found["relative_gap"]) == (None, [None])


def test_tolerances_are_those_that_networks_were_solved_to():
    X = simulate.exact_sample(simulate.chain_network(5, strength=1.5, fields="balanced"), 300, random_state=0)
    fit = Method(tol=1e-9).fit(X)
    data = data_of(build_report(fit))
    tol, chosen = data["certificate"]["tol"], data["path"]["selected"]
    assert tol[chosen] == 1e-9
    assert {tol[k] for k in range(len(tol)) if k != chosen} == {fit.selection.path.tol}
    near = replace(fit.solution, alpha=fit.solution.alpha * (1 + 1e-12))  # the same penalty, but for the last bits
    path = Path((replace(near, alpha=10.0), near), tol=1e-5)
    assert data_of(build_report(fit, path=path))["certificate"]["tol"] == [1e-5, 1e-9]


def test_the_page_says_why_a_network_was_taken_as_the_methods_text_does():
    X = simulate.exact_sample(simulate.chain_network(5, strength=1.5, fields="balanced"), 300, random_state=0)
    fit = Method().fit(X)
    said = {
        "ebic": "The network has the smallest extended BIC (α = ",
        "prediction": "The network is the sparsest that keeps ",
        "empty": "The network therefore has only pairs that were not penalized.",
        "time": "The network has the smallest extended BIC of those that were compared",
    }
    for reason, words in said.items():
        stages = replace(fit.selection.stages, reason=reason)
        data = data_of(build_report(replace(fit, selection=replace(fit.selection, stages=stages))))
        assert words in data["curve"]["reason"]
        assert data["curve"]["reason"] in data["methods"]
    assert data_of(build_report(Method(selector=EBIC()).fit(X)))["curve"]["reason"] == ""


def test_intervals_of_resamples_are_joined_by_name():
    network = simulate.chain_network(5, strength=2.0, fields="balanced")
    frame = pd.DataFrame(simulate.exact_sample(network, 400, random_state=0))
    frame.columns = list("abcde")
    turned = frame[list("edcba")]
    found = bootstrap(turned, IsingLasso(0.05), n_boot=5, random_state=0)
    columns = data_of(build_report(IsingLasso(0.05).fit(frame), bootstrap=found))["nodes"]["columns"]
    shown = {column["label"]: column["values"] for column in columns}
    for name in ("q2.5", "q97.5"):
        expected = found.nodes()[name][::-1]
        assert len(set(expected)) > 1
        np.testing.assert_allclose(shown[f"bootstrap strength {name}"], expected, rtol=1e-3)


def test_the_line_of_an_edge_is_what_the_network_expects():
    steps = Variables.of([(10, 20, 30), 2], ["continuous", "binary"], scores=[(0.0, 1.0, 2.0), None])
    network = Network([0.0, 0.0, 0.0], [[0, 1]], [np.log(2)], variables=steps)
    found = page_data.expected_along(network, 0, [np.full(3, 1 / 3), np.full(2, 1 / 2)], Coding.of(steps).columns)
    assert found == pytest.approx([20, (10 + 2 * 20 + 4 * 30) / 7])  # odds of the three steps: 1:1:1, and 1:2:4
