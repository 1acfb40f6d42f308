"""Check whether a network reproduces its table: rows simulated from it are compared with the rows of the data.

Every column becomes a yes or no: a column of two values as it is, one with an order above its median in the data or
not, one without an order its most frequent category or another. Compared are the shares of yes in single columns, in
pairs, in some triples, and of rows with at least k of them. Data and simulated rows are two samples: given how many
rows of both together have a property, the number of those in the data is hypergeometric if the network is right. Each
of the four comparisons gets a quarter of the level, and all its shares an equal part of that: a right network is
flagged in at most ``level`` of all tables.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded when they are needed
from numpy.typing import NDArray

from isinglass.arguments import RandomSource, as_generator, check_count, check_level, check_word, spawn_seeds
from isinglass.arrays import Bytes, FloatArray, Frozen, Mask
from isinglass.conditionals import blocks_of_rows
from isinglass.data import TableLike
from isinglass.errors import join_words
from isinglass.network import Network
from isinglass.pairs import all_pairs
from isinglass.results import NetworkLike, as_network, fit_of, read_for
from isinglass.simulate.enumeration import can_enumerate, exact_sample
from isinglass.simulate.gibbs import restrict_to
from isinglass.simulate.mixing import MixingDiagnostics, sample_dispersed

MAX_PAIRS, N_TRIPLES, MAX_COUNTS = 20_000, 2_000, 40
_CHAINS, _BURN_IN, _THIN = 100, 1000, 10
_ROUNDING = 1e-12  # relative difference below which two sums of weights are equal
_SEEMS_FAR = 2.0  # standard errors from which a probability is computed exactly

Sets = NDArray[np.int64]  # of columns, one per row


@dataclass(frozen=True, eq=False)
class Comparison(Frozen):
    """Shares of rows with a property, in the data and in rows simulated from a network."""

    what: str  #: "means", "pairs", "triples" or "counts"
    columns: Sets  #: the columns that are all 1, one row per property; of "counts", how many at least
    observed: FloatArray  #: share of the rows of the data
    expected: FloatArray  #: share of the simulated rows
    p_values: FloatArray  #: two-sided, of one share
    level: float  #: of the whole comparison

    @property
    def flagged(self) -> Mask:
        """Which shares are not reproduced."""
        return np.asarray(self.p_values <= self.level / max(len(self.p_values), 1))

    @property
    def n_flagged(self) -> int:
        """How many are not reproduced."""
        return int(self.flagged.sum())

    def describe(self, names: tuple[str, ...]) -> str:
        """Return how many shares are not reproduced, and the worst of them."""
        worst = int(np.argmax(np.where(self.flagged, np.abs(self.observed - self.expected), -1.0)))
        of = self.columns[worst].tolist()
        example = f"rows with {of[0]} or more ones" if self.what == "counts" else "–".join(names[s] for s in of)
        shares = f"{self.expected[worst]:.2g} simulated, {self.observed[worst]:.2g} in the data"
        return f"{self.n_flagged} of {len(self.p_values)} {self.what} ({example}: {shares})"


@dataclass(frozen=True, eq=False, repr=False)
class ModelCheck(Frozen):
    """Whether a network reproduces its table; made by `isinglass.metrics.check_model`.

    Examples
    --------
    >>> from isinglass import metrics, simulate
    >>> model = simulate.chain_network(6, strength=1.5, fields="balanced")
    >>> X = simulate.exact_sample(model, 500, random_state=0)
    >>> metrics.check_model(X, model).passed
    True
    >>> print(metrics.check_model(X, simulate.chain_network(6)).sentence)
    Rows simulated from the network do not reproduce 6 of 6 means (x2: 0.82 simulated, 0.49 in the data), ...
    """

    comparisons: tuple[Comparison, ...]
    names: tuple[str, ...]  #: of the columns
    score_range: tuple[int, int]  #: fewest and most ones in a row of the data
    simulated_range: tuple[int, int]  #: the same of the simulated rows
    n_simulated: int
    effective_size: float  #: number of independent rows that the simulated ones are worth
    mixing: MixingDiagnostics | None = None  #: of the chains; None where rows were drawn without chains
    is_split: bool = False  #: whether columns of more than two values were made into ones and zeros

    @property
    def mixed(self) -> bool:
        """Whether the chains agree with each other."""
        return self.mixing is None or self.mixing.mixed

    @property
    def passed(self) -> bool:
        """Whether the chains have mixed and everything that was compared is reproduced."""
        return self.mixed and not any(comparison.n_flagged for comparison in self.comparisons)

    def __getitem__(self, what: str) -> Comparison:
        check_word("comparison", what, [comparison.what for comparison in self.comparisons])
        return next(comparison for comparison in self.comparisons if comparison.what == what)

    @property
    def sentence(self) -> str:
        """What is reproduced and what is not, in words."""
        missed = [each.describe(self.names) for each in self.comparisons if each.n_flagged]
        kept = join_words([each.what for each in self.comparisons if not each.n_flagged])
        if missed:
            text = f"Rows simulated from the network do not reproduce {join_words(missed)}."
            text += f" No difference was found in the {kept}." if kept else ""
        else:
            text = "Rows simulated from the network and rows of the data do not differ in the "
            text += f"{kept}, as far as simulation can tell."
        if self["counts"].n_flagged and self.score_range != self.simulated_range:
            (least, most), (fewest, largest) = self.score_range, self.simulated_range
            text += f" Simulated rows have {fewest} to {largest} ones, rows of the data {least} to {most}."
        if self.is_split:
            text += (
                " A cell of a column with more than two values counts as 1 if it is above the median of the column or, "
                "where values have no order, if it is the most frequent one."
            )
        return text if self.mixed else f"{text} The chains have not mixed: the rows depend on where they started."

    @property
    def consequence(self) -> str:
        """What a failed check means for the use of the network; nothing if it passed."""
        if self.passed:
            return ""
        curved = ", or couplings that are not linear in the scores of categories" if self.is_split else ""
        return (
            "The edges still say which columns help to predict each other, and predictions of single columns remain "
            "valid. Do not simulate rows from this network, and do not use its probabilities of several values "
            f"together. A possible reason is a common cause that is not in the table{curved}."
        )

    def __repr__(self) -> str:
        return f"ModelCheck({self.sentence})"


def check_model(
    table: TableLike,
    network: NetworkLike,
    *,
    n_simulated: int = 10_000,
    level: float = 0.05,
    random_state: RandomSource = 0,
    n_threads: int | None = None,
) -> ModelCheck:
    """Simulate rows from a network and compare them with those of a table.

    Parameters
    ----------
    table : table
        Rows of the columns of the network, without missing cells. With a fitted estimator or a Fit, any table that
        reads like that of the fit; categories that do not occur in that one are not simulated.
    network : Network, Solution, Fit, fitted estimator or matrix
        The network.
    n_simulated : int, default 10000
        Number of simulated rows, at least 1000: independent rows by enumeration of up to 2^20 states (20 columns
        of two values), otherwise from 100 Gibbs chains.
    level : float, default 0.05
        Largest share of tables for which a correct network is flagged.
    random_state : int, Generator, RandomState, SeedSequence or None, default 0
        Seed.
    n_threads : int, optional
        Threads of the kernels; the result does not depend on it.
    """
    n, part = check_count("n_simulated", n_simulated, least=1000), check_level(level) / 4
    counted, fit = read_for(network, table).whole().without_holes().counted(quiet=True), fit_of(network)
    network = as_network(network) if fit is None else restrict_to(fit.occurs, as_network(network))
    network.variables.require_no_covariates("The check")
    at_rows, at_triples = spawn_seeds(random_state, 2)
    drawn, mixing, worth = _simulate(network, n, at_rows, n_threads)
    weight = counted.unit_weight
    split = _split_points(counted.codes, weight, network)
    data, simulated = (_as_ones(codes, split, network) for codes in (counted.codes, drawn))
    sizes, equal = (float(weight.sum()), worth), np.ones(len(drawn))
    ours = data, weight, _pair_shares(data, weight)
    theirs = simulated, equal, _pair_shares(simulated, equal)
    comparisons = [
        _compare(what, sets, _shares(*ours, sets), _shares(*theirs, sets), sizes, part)
        for what, sets in _sets(network.n_features, as_generator(at_triples))
    ]
    totals = [rows.sum(axis=1, dtype=np.int64) for rows in (data, simulated)]
    steps = _count_steps(*totals)
    of_data, of_simulated = (total[:, None] >= steps for total in totals)
    shares = weight @ of_data / weight.sum(), of_simulated.mean(axis=0)
    comparisons.append(_compare("counts", steps[:, None], *shares, sizes, part))
    ranges = tuple((int(total.min()), int(total.max())) for total in (totals[0][weight > 0], totals[1]))
    is_split = bool((network.variables.sizes > 2).any())
    return ModelCheck(tuple(comparisons), network.names, ranges[0], ranges[1], len(drawn), worth, mixing, is_split)


def _simulate(
    network: Network, n: int, seed: np.random.SeedSequence, n_threads: int | None
) -> tuple[Bytes, MixingDiagnostics | None, float]:
    """Return rows, how their chains have mixed, and how many independent rows they are worth."""
    if can_enumerate(network):
        return np.asarray(exact_sample(network, n, random_state=np.random.default_rng(seed))), None, float(n)
    n_draws = -(-n // _CHAINS)
    rows, mixing = sample_dispersed(network, n_draws, _CHAINS, seed.spawn(2), _BURN_IN, _THIN, n_threads)
    return rows, mixing, float(np.clip(mixing.smallest_ess, _CHAINS, len(rows)))


def _split_points(codes: Bytes, weight: FloatArray, network: Network) -> NDArray[np.int64]:
    """Return the category of every column above which a cell counts as 1; of a nominal one, the category itself.

    Sums of weights that differ by rounding only are ties: the first category is taken, as for repeated rows.
    """
    points = np.zeros(network.n_features, dtype=np.int64)
    for s, q in enumerate(network.variables.sizes.tolist()):
        counts = np.bincount(codes[:, s], weights=weight, minlength=q)
        if q > 2 and network.variables.has_scores[s]:
            below = np.cumsum(counts)
            points[s] = min(int(np.searchsorted(below, below[-1] / 2 * (1 - _ROUNDING))), q - 2)
        elif q > 2:
            points[s] = int(np.argmax(counts >= counts.max() * (1 - _ROUNDING)))
    return points


def _as_ones(codes: Bytes, points: NDArray[np.int64], network: Network) -> Bytes:
    nominal = ~network.variables.has_scores
    return np.where(nominal, codes == points, codes > points).astype(np.uint8)


def _pair_shares(rows: Bytes, weight: FloatArray) -> FloatArray:
    """Return the share of rows in which two columns are both 1; on the diagonal, in which one is."""
    total = np.zeros((rows.shape[1], rows.shape[1]))
    for some in blocks_of_rows(len(rows), rows.shape[1]):
        ones = rows[some].astype(np.float64)
        total += ones.T @ (weight[some, None] * ones)
    return np.asarray(total / weight.sum())


def _shares(rows: Bytes, weight: FloatArray, of_pairs: FloatArray, sets: Sets) -> FloatArray:
    """Return the share of rows in which all columns of a set are 1, given those of pairs."""
    if sets.shape[1] < 3:
        return np.asarray(of_pairs[sets[:, 0], sets[:, -1]])
    columns = np.asfortranarray(rows)
    return np.asarray([weight @ columns[:, chosen].all(axis=1) for chosen in sets.tolist()] / weight.sum())


def _sets(p: int, rng: np.random.Generator) -> Iterator[tuple[str, Sets]]:
    """Yield the sets of columns of the first three comparisons."""
    yield "means", np.arange(p)[:, None]
    pairs = all_pairs(p).astype(np.int64)
    if len(pairs) > MAX_PAIRS:
        pairs = pairs[np.sort(rng.choice(len(pairs), MAX_PAIRS, replace=False))]
    if p >= 2:
        yield "pairs", pairs
    if p >= 3:
        drawn = np.sort(rng.integers(0, p, (20 * N_TRIPLES, 3)), axis=1)
        distinct = np.unique(drawn[(np.diff(drawn, axis=1) > 0).all(axis=1)], axis=0)
        yield "triples", rng.permutation(distinct)[:N_TRIPLES]


def _count_steps(data: NDArray[np.int64], simulated: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of ones, at least which rows of both samples are compared by."""
    totals = np.concatenate([data, simulated])
    steps = np.arange(totals.min() + 1, totals.max() + 1)
    if len(steps) <= MAX_COUNTS:
        return steps
    inner = np.quantile(totals, np.linspace(0.01, 0.99, MAX_COUNTS - 2)).round()
    return np.unique(np.clip([data.min(), data.max() + 1, *inner], steps[0], steps[-1]).astype(np.int64))


def _tails(ours: NDArray[np.int64], ones: NDArray[np.int64], n: int, m: int) -> FloatArray:
    """Return the hypergeometric probability of a number of ones in n of n + m rows, or of one farther from the mean.

    scipy.stats has it, which takes longer to import than a report to write.
    """
    fewer = ours * (n + m) <= ones * n
    k = np.where(fewer, ours, n - ours).astype(np.float64)  # many ones are few zeros
    total = np.where(fewer, ones, n + m - ones).astype(np.float64)
    others = n + m - total
    logarithms = scipy.special.gammaln(np.stack([total, others, np.full_like(k, n + m)]) + 1)
    logarithms -= scipy.special.gammaln(np.stack([k, n - k, np.full_like(k, n)]) + 1)
    logarithms -= scipy.special.gammaln(np.stack([total - k, others - n + k, np.full_like(k, m)]) + 1)
    term = np.exp(logarithms[0] + logarithms[1] - logarithms[2])
    tail = term.copy()
    while (term > 1e-17 * tail).any():
        term *= k * (others - n + k) / ((total - k + 1) * (n - k + 1))
        k -= 1
        tail += term
    return np.asarray(tail)


def _compare(
    what: str, sets: Sets, observed: FloatArray, expected: FloatArray, sizes: tuple[float, float], level: float
) -> Comparison:
    """Compare shares of two samples of these sizes; see the top of this module."""
    n, m = (max(round(size), 1) for size in sizes)
    ours, theirs = np.rint(observed * n).astype(np.int64), np.rint(expected * m).astype(np.int64)
    pooled = (ours + theirs) / (n + m)
    error = np.sqrt(pooled * (1 - pooled) * (1 / n + 1 / m))
    z = np.divide(np.abs(ours / n - theirs / m), error, out=np.zeros(len(sets)), where=error > 0)
    p_values = np.asarray(2 * scipy.special.ndtr(-z))
    far = np.flatnonzero(z >= _SEEMS_FAR)
    if len(far):
        p_values[far] = np.minimum(2 * _tails(ours[far], (ours + theirs)[far], n, m), 1.0)
    return Comparison(what, sets, observed, expected, p_values, level)
