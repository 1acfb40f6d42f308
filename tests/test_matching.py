import numpy as np
import pandas as pd
import pytest

from isinglass import IsingLasso, as_table, metrics, objective, simulate
from isinglass.data import Table
from isinglass.errors import DataError
from isinglass.matching import match_categories, require_same
from isinglass.network import Network
from isinglass.select import ebic
from isinglass.variables import Variables


def ordinal(*values):
    return Variables.of([values, 2], ["ordinal", "binary"], names=["likert", "x"])


@pytest.mark.parametrize(
    ("given", "wanted", "codes"),
    [
        ((1, 2, 3), (1, 2, 3), None),
        ((3, 1), (1, 2, 3), [2, 0]),  # by value: a part of the categories, in another order
        ((1.0, 2.0, 3.0), (1, 2, 3), None),
        ((0, 1, 2), ("a", "b", "c"), None),  # codes of the network's categories
        (("a", "b", "c"), (0, 1, 2), None),  # of a network without values of its own
        ((0, 1), (0, 1, 2), [0, 1]),  # fewer categories
        ((0, 1, 2, 3), (0, 1, 2), [0, 1, 2, 3]),  # more, which may never occur
        ((None, "b"), ("b", "c"), [1, 0]),  # a category without a value takes the place that is left
    ],
)
def test_categories_are_found_by_value_and_numbers_from_0_are_codes(given, wanted, codes):
    found = match_categories(ordinal(*given), ordinal(*wanted))
    assert {column: places.tolist() for column, places in found.items()} == ({0: codes} if codes else {})


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        *(((0, 1, 2), (1, 2, 3)), ((1, 2), (0, 1)), (("a", "x"), ("a", "b", "c")), (("x", "y"), ("a", "b", "c"))),
        ((0, 1, 2, 3), ("a", "b", "c")),  # more codes than categories
    ],
)
def test_categories_that_could_be_meant_in_two_ways_are_refused(given, wanted):
    with pytest.raises(DataError, match="column 'likert' must have the categories of the network"):
        match_categories(ordinal(*given), ordinal(*wanted))


def test_a_table_from_0_is_not_taken_for_codes_of_categories_from_1():
    """Its 1 is the network's 1, not the second category."""
    network = Network([0.5, 1.0, 0.2], [[0, 1]], [0.7], variables=ordinal(1, 2, 3))
    rows = np.array([[0, 1], [1, 0], [2, 1]], dtype=np.uint8)
    with pytest.raises(DataError, match="'likert' must have the categories of the network, 1, 2, 3; got 0, 1, 2"):
        network.energy(Table(rows, ordinal(0, 1, 2)))


def test_numbers_from_0_are_no_steps_of_a_continuous_column():
    continuous = Variables.of([(0.5, 1.5, 2.5), 2], ["continuous", "binary"], names=["likert", "x"])
    assert match_categories(continuous, continuous) == {}
    for given in (ordinal(0, 1), ordinal(0, 1, 2)):
        with pytest.raises(DataError, match=r"'likert' must have the categories of the network, 0.5, 1.5, 2.5"):
            match_categories(given, continuous)


def test_a_fit_finds_the_categories_of_another_table_by_value():
    rng = np.random.default_rng(0)
    cells = rng.integers(1, 5, (200, 3))
    fit = IsingLasso(0.05, kinds="ordinal").fit(cells).fit_
    some = cells[cells.max(axis=1) < 4]
    part = as_table(some, kinds="ordinal")  # without the category 4
    np.testing.assert_array_equal(fit.score_samples(part), fit.score_samples(some))
    backwards = Variables.of([(4, 3, 2, 1)] * 3, "ordinal")
    np.testing.assert_array_equal(
        fit.score_samples(Table((4 - cells).astype(np.uint8), backwards)), fit.score_samples(cells)
    )


@pytest.mark.parametrize(("n", "kind"), [(2, "binary"), (3, "ordinal"), (3, "nominal")])
def test_codes_that_a_network_does_not_have_are_refused_where_they_occur(n, kind):
    rng = np.random.default_rng(0)
    fit = IsingLasso(0.02, kinds=kind).fit(rng.integers(0, n, (200, 3))).fit_
    wide = as_table(rng.integers(0, 4, (60, 3)), kinds="ordinal" if n == 2 else kind)
    for ask in (fit.score, fit.score_samples, fit.predict_proba, fit.impute, fit.network.energy):
        with pytest.raises(DataError, match=f"column 0 has the categories 0 to {n - 1}; got 3. Read the table as"):
            ask(wide)
    with pytest.raises(DataError, match="categories and scores"):
        objective.Objective(wide).value(fit.network, 0.02)
    rows = rng.integers(0, n, (60, 3))
    some = Table(rows.astype(np.uint8), wide.variables)  # without the categories that the network does not have
    assert fit.score(some) == fit.score(rows)
    np.testing.assert_array_equal(fit.predict_proba(some), fit.predict_proba(rows))


def test_parameters_need_the_same_scores():
    scored = Variables.of([(1, 2, 3), 2], ["ordinal", "binary"], [(0, 1, 5), None], names=["likert", "x"])
    require_same(ordinal(1, 2, 3), ordinal(1, 2, 3))
    with pytest.raises(DataError, match="categories and scores"):
        require_same(scored, ordinal(1, 2, 3))


FRAME = pd.DataFrame(simulate.exact_sample(simulate.chain_network(5, strength=2.0), 300, random_state=0))
FRAME.columns = list("abcde")
TURNED = FRAME[list("edcba")]


def test_tables_whose_names_are_in_another_order_are_refused():
    solution = IsingLasso(0.05).fit(FRAME).fit_.solution
    turned, network = objective.Objective(TURNED), solution.network
    for ask in (turned.kkt_residual, turned.duality_gap, turned.value):
        with pytest.raises(DataError, match="in the same order; got 'e' in place of 'a'"):
            ask(network, 0.05)
    with pytest.raises(DataError, match="in the same order; got 'e' in place of 'a'"):
        ebic(TURNED, solution)
    unnamed = FRAME.to_numpy()
    assert objective.Objective(unnamed).value(network, 0.05) == objective.Objective(FRAME).value(network, 0.05)
    assert ebic(unnamed, solution) == ebic(FRAME, solution)


def test_a_network_is_checked_with_any_table_of_its_columns():
    net = IsingLasso(0.05).fit(FRAME)
    expected = net.check(FRAME, n_simulated=1000)
    for table, network in [
        (as_table(TURNED), net.network_),
        (TURNED, net.network_),
        (FRAME.to_numpy(), net.fit_.solution),
        (TURNED, net.fit_),
        (FRAME, net),
    ]:
        found = metrics.check_model(table, network, n_simulated=1000)
        for one, other in zip(found.comparisons, expected.comparisons, strict=True):
            np.testing.assert_array_equal(one.observed, other.observed)
            np.testing.assert_array_equal(one.p_values, other.p_values)
    with pytest.raises(DataError, match="must have one column per node"):
        metrics.check_model(as_table(FRAME.to_numpy()[:, :3]), net.network_)


def test_networks_are_compared_by_name():
    one, two = (IsingLasso(0.02, tol=1e-10).fit(frame).network_ for frame in (FRAME, TURNED))
    assert one.n_edges > 0
    assert metrics.edge_confusion(two, one).f1 == 1.0
    assert metrics.weight_correlation(one, two) == pytest.approx(1.0)
    assert metrics.relative_difference(one, two) < 1e-6
    assert (
        metrics.edge_confusion(one, Network(one.fields, one.pairs, one.pair_values)).f1 == 1.0
    )  # without names, by position
    with pytest.raises(DataError, match="must have the same nodes; got 'a' in one of them only"):
        metrics.edge_confusion(one, one.with_names(list("vwxyz")))


def test_networks_with_categories_are_compared_by_name():
    """A block of two nominal columns is turned where these change places."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 3, 400)
    frame = pd.DataFrame({"n": first, "m": (first + rng.integers(0, 2, 400)) % 4, "o": rng.integers(0, 3, 400)})
    frame["b"] = (first == 1) ^ (rng.random(400) < 0.2)
    kinds = {"n": "nominal", "m": "nominal", "o": "ordinal"}
    one, two = (
        IsingLasso(0.005, kinds=kinds, tol=1e-10).fit(each).network_ for each in (frame, frame[["b", "o", "m", "n"]])
    )
    assert one.n_edges > 2
    assert metrics.relative_difference(one, two) < 1e-5
    assert metrics.edge_confusion(one, two).f1 == 1.0


def test_parameters_of_networks_with_other_categories_are_not_subtracted():
    """Blocks and fields of these networks lie in arrays of one shape, or nearly, and mean something else."""

    def network(*values):
        variables = Variables.of([values, ("a", "b", "c")], "nominal", names=["s", "t"])
        return Network(
            np.zeros(len(values) + 1), [[0, 1]], variables=variables, pair_parameters=[np.ones((len(values), 3))]
        )

    one = network("x", "y", "z")
    assert metrics.relative_difference(one, one) == 0.0
    for other in (network("z", "y", "x"), network("x", "y", "z", "w"), network(0, 1, 2, 3)):
        with pytest.raises(DataError, match=r"must have the (same )?categories"):
            metrics.relative_difference(one, other)
