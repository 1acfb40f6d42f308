"""Sample-size studies against a slow twin, and bad input."""

import numpy as np
import pytest
from choices import ByFunction

from isinglass import Network, Run, ising_path, plot, simulate
from isinglass.arguments import spawn_seeds
from isinglass.errors import DataError
from isinglass.select import sample_size
from isinglass.select.sample_size import BURN_IN, SampleSizeStudy


@pytest.mark.parametrize("p", [6, 18, 22])
def test_scores_equal_those_of_dense_matrices(p):
    truth = simulate.chain_network(p, strength=1.5, fields="balanced")
    study = sample_size(truth, [400, 80], 0.05, n_repeats=2, random_state=3)
    assert study.rows == (80, 400)
    upper = np.triu_indices(p, 1)
    true = truth.couplings[upper]
    for number, seed in enumerate(spawn_seeds(3, 4)):
        n = study.rows[number // 2]
        if p <= 20:
            X = simulate.exact_sample(truth, n, random_state=seed)
        else:
            X = simulate.gibbs_sample(truth, n, burn_in=BURN_IN, n_chains=n, random_state=seed)
        found = ising_path(X, [0.05])[0].couplings[upper]
        wanted = {
            "sensitivity": (found[true != 0] != 0).mean(),
            "specificity": (found[true == 0] == 0).mean(),
            "correlation": np.corrcoef(found, true)[0, 1],
        }
        for name, value in wanted.items():
            assert study.scores[name][divmod(number, 2)] == pytest.approx(value), name


def test_tables_of_many_nodes_have_both_modes():
    """One chain of 22 nodes that all agree would hardly leave the mode that it comes to first."""
    couplings = np.full((22, 22), 0.4)
    np.fill_diagonal(couplings, 0.0)
    truth, means = Network.from_couplings(couplings, -couplings.sum(axis=0) / 2), []

    def look(table):
        means.append(np.asarray(table).mean(axis=1))
        return ising_path(table, [0.05])[0]

    sample_size(truth, [200], ByFunction(look), n_repeats=2, random_state=0)
    for mean in means:
        assert 0.3 < (mean > 0.5).mean() < 0.7


def test_more_rows_find_more_and_jobs_do_not_matter(tmp_path):
    truth = simulate.chain_network(8, strength=1.2, fields="balanced")
    one, two = (
        sample_size(truth, [60, 300, 3000], n_repeats=4, run=Run(n_jobs=jobs, checkpoint=tmp_path / "kept"))
        for jobs in (1, 2)
    )
    for name in one.scores:
        np.testing.assert_array_equal(one.scores[name], two.scores[name])
    mean = one.sizes()["sensitivity"]
    assert mean[0] < mean[1] <= mean[2] == 1.0
    assert one.rows_for("sensitivity", 1.0) in (300, 3000)
    assert one.rows_for("correlation", 1.1) is None
    assert "8 nodes, 7 edges; 4 repeats" in repr(one)
    assert list(one.sizes())[:3] == ["rows", "sensitivity", "sensitivity_q5"]


def test_enough_rows_are_enough_for_all_larger_sizes():
    means = np.array([0.9, 0.7, 0.6, 0.85])[:, None]
    study = SampleSizeStudy(simulate.chain_network(3), (200, 400, 100, 800), {"sensitivity": means})
    assert study.rows_for("sensitivity", 0.8) == 800  # not 200: 400 rows find fewer
    assert study.rows_for("sensitivity", 0.65) == 200
    assert study.rows_for("sensitivity", 0.9) is None


@pytest.mark.parametrize(("edges", "measure"), [([[0, 1], [0, 2], [1, 2]], "specificity"), ([], "sensitivity")])
def test_a_score_that_does_not_exist_for_the_true_network_is_not_shown_as_zero(edges, measure):
    truth = Network([0.0] * 3, np.reshape(edges, (-1, 2)).astype(int), np.arange(1.0, 1.0 + len(edges)))
    study = sample_size(truth, [50, 100], 0.05, n_repeats=2, random_state=0)
    assert np.isnan(study.sizes()[measure]).all()
    assert study.rows_for(measure, 0.0) is None
    assert "–" in repr(study)
    legend = plot.sample_size(study).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [name for name in study.scores if name != measure]


def test_a_correlation_that_does_not_exist_counts_as_zero():
    study = sample_size(Network([0.0, 0.0, 0.0], [[0, 1]], [0.5]), [50], 5.0, n_repeats=2, random_state=0)
    assert np.isnan(study.scores["correlation"]).all()
    assert (study.sizes()["correlation"] == 0).all()


@pytest.mark.parametrize(("rows", "message"), [([], "at least one"), ([5, 5], "different"), ([1], "at least 2")])
def test_bad_rows(rows, message):
    with pytest.raises(DataError, match=message):
        sample_size(Network([0.0, 0.0], [[0, 1]], [1.0]), rows, 0.1, n_repeats=1)


def test_an_unknown_score_is_named():
    study = sample_size(Network([0.0, 0.0], [[0, 1]], [1.0]), [50], 0.1, n_repeats=1)
    assert repr(study).startswith("SampleSizeStudy(2 nodes, 1 edge; 1 repeat)")
    with pytest.raises(DataError, match='measure must be one of "sensitivity", "specificity"'):
        study.rows_for("recall", 0.9)
