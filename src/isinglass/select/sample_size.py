"""How many rows it takes to recover a network: tables are simulated from it, fitted, and compared with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import SeedSequence

from isinglass.arguments import MOST_TASKS, RandomSource, check_count, check_word, spawn_seeds
from isinglass.arrays import FloatArray
from isinglass.errors import ArgumentError, plural, suppress_warnings
from isinglass.evaluate.agreement import edge_confusion, weight_correlation
from isinglass.network import Network
from isinglass.results import NetworkLike, as_network
from isinglass.select.method import Method, MethodLike, as_method
from isinglass.select.parallel import COUNTED, run_tasks, task_run
from isinglass.select.settings import Run
from isinglass.simulate import exact_sample, gibbs_sample
from isinglass.simulate.enumeration import can_enumerate
from isinglass.text_tables import Columns, show_columns

MEASURES = ("sensitivity", "specificity", "correlation")
BURN_IN = 200
"""Sweeps of Gibbs sampling, in which every row has its own chain, that are discarded."""


@dataclass(frozen=True, eq=False, repr=False)
class SampleSizeStudy:
    """How well a network was recovered, for several numbers of rows."""

    network: Network  #: the network that rows were drawn from
    rows: tuple[int, ...]  #: the numbers of rows
    #: sensitivity (share of the true edges that are found), specificity (share of the other pairs without an edge), and
    #: the correlation of true and estimated couplings over all pairs, each of shape (n_sizes, n_repeats); NaN where a
    #: score does not exist, such as the correlation of a network without edges
    scores: Mapping[str, FloatArray]

    @property
    def n_repeats(self) -> int:
        """Tables drawn for each number of rows."""
        return int(next(iter(self.scores.values())).shape[1])

    def sizes(self) -> Columns:
        """Return one row per number of rows as columns, ready for a data frame.

        Columns are ``rows``, and for each score its mean and, with ``_q5`` and ``_q95`` behind, its 5 % and 95 %
        quantiles. A correlation that does not exist counts as 0. Sensitivity is NaN if the network has no edges, and
        specificity if every pair is one.
        """
        columns = Columns(rows=np.array(self.rows))
        for name, scores in self.scores.items():
            values = np.nan_to_num(scores, nan=0.0) if name == "correlation" else scores
            low, high = np.quantile(values, (0.05, 0.95), axis=1)
            columns |= {name: values.mean(axis=1), f"{name}_q5": low, f"{name}_q95": high}
        return columns

    def rows_for(self, measure: str, least: float) -> int | None:
        """Return the number of rows tried from which on all mean scores are at least ``least``; None if none is."""
        means = zip(self.rows, self.sizes()[check_word("measure", measure, self.scores)].tolist(), strict=True)
        short = max((n for n, mean in means if not mean >= least), default=0)
        return min((n for n in self.rows if n > short), default=None)

    def __repr__(self) -> str:
        nodes, edges = plural(self.network.n_features, "node"), plural(self.network.n_edges, "edge")
        means = {name: column for name, column in self.sizes().items() if name in ("rows", *self.scores)}
        table = show_columns(means, "sample size")
        return f"SampleSizeStudy({nodes}, {edges}; {plural(self.n_repeats, 'repeat')})\n{table}"


def sample_size(
    network: NetworkLike,
    rows: Sequence[int],
    method: MethodLike = None,
    *,
    n_repeats: int = 20,
    random_state: RandomSource = 0,
    run: Run = Run(),
) -> SampleSizeStudy:
    """Simulate tables of several sizes from a network, estimate the network from each, and compare.

    Parameters
    ----------
    network : Network, Solution, fitted estimator or matrix
        The network that is taken as true, such as one fitted to a pilot study, or one derived from theory.
    rows : sequence of int
        The numbers of rows to try.
    method : Method, selector, estimator, fit or float, optional
        How a network is estimated, as for `bootstrap`; `TwoStage` by default.
    n_repeats : int, default 20
        Tables of each size.
    random_state, run
        As for `bootstrap`, with tables instead of resamples.

    Examples
    --------
    >>> from isinglass import simulate
    >>> study = sample_size(simulate.chain_network(5, strength=2.0, fields="balanced"), [100, 1000], 0.05,
    ...                     n_repeats=3, random_state=0)
    >>> study.rows, study.sizes()["sensitivity"].tolist()
    ((100, 1000), [1.0, 1.0])
    """
    truth = as_network(network)
    repeats = check_count("n_repeats", n_repeats, most=MOST_TASKS)
    sizes = tuple(check_count("rows", n, least=2) for n in (rows if hasattr(rows, "__iter__") else [rows]))
    if not sizes or len(set(sizes)) < len(sizes):
        raise ArgumentError("rows", "must be different numbers of rows, at least one", rows)
    sizes = tuple(sorted(sizes))
    wanted = as_method(method)
    run.refuse_max_time()
    run.require_seed(random_state)
    seeds = spawn_seeds(random_state, len(sizes) * repeats)
    fingerprint = {
        "network": truth,
        "rows": sizes,
        "n_repeats": repeats,
        "method": wanted,
        "random_state": seeds[0].entropy,
    }
    each = zip(np.repeat(sizes, repeats).tolist(), seeds, strict=True)
    work = [(truth, wanted, task_run(run), n, seed) for n, seed in each]
    results = run_tasks(_score_table, work, "tables", "Sample sizes", run=run, fingerprint=fingerprint)
    scores = {name: np.array([float(result[name]) for result in results]) for name in MEASURES}
    return SampleSizeStudy(truth, sizes, {name: score.reshape(len(sizes), -1) for name, score in scores.items()})


def _score_table(truth: Network, method: Method, run: Run, n_rows: int, seed: SeedSequence) -> dict[str, float]:
    """Return how well the network is recovered from one table."""
    if can_enumerate(truth):
        X = exact_sample(truth, n_rows, random_state=seed)
    else:
        X = gibbs_sample(truth, n_rows, burn_in=BURN_IN, n_chains=n_rows, random_state=seed, n_threads=1)
    with suppress_warnings(*COUNTED):
        estimate = method.choose(X, run=run).solution.network
    confusion = edge_confusion(estimate, truth)
    return {
        "sensitivity": confusion.recall,
        "specificity": 1.0 - confusion.false_positive_rate,
        "correlation": weight_correlation(estimate, truth),
    }
