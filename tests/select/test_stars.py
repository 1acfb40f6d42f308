"""StARS: known curves, the exact shortcut, the same bits everywhere, degenerate tables."""

import threading
import warnings

import choices
import joblib
import numpy as np
import pytest
from choices import stars
from cluster import DeadlyPaths, two_workers
from hypothesis import given
from hypothesis import strategies as st

from isinglass import Network, Path, Solution, Stability, as_table, ising_path, simulate
from isinglass.errors import ConstantColumnWarning, ConvergenceWarning, DataError, FewColumnsWarning, GridEndWarning
from isinglass.select import PathSettings
from isinglass.select import path_selectors as module
from isinglass.select.task import Task
from isinglass.solve.path import alpha_max


@pytest.fixture
def unbounded(monkeypatch):
    """Return a way to run all subsamples over the whole grid at once: the slow twin."""
    return lambda: monkeypatch.setattr(module, "AT_ONCE", 10**9)


quiet_ends = pytest.mark.filterwarnings("ignore::isinglass.errors.GridEndWarning")
coins = np.random.default_rng(0).integers(0, 2, (300, 2), dtype=np.uint8)


class KnownCurve:
    """Paths of two columns: their edge is there at alpha number k in ``counts[k]`` of the subsamples.

    Subsamples are told apart by their rows and numbered as they are first seen; ``last`` says whether the edge goes to
    the last of them (out of ``n_subsamples``) rather than to the first.
    """

    def __init__(self, counts, *, n_subsamples=10, last=False):
        self.counts, self.n_subsamples, self.last = np.array(counts), n_subsamples, last
        self.grid = np.linspace(1.0, 0.1, len(counts))
        self.numbers, self.calls = {}, []
        self.lock = threading.Lock()

    def __call__(self, table, alphas):
        with self.lock:
            number = self.numbers.setdefault(np.asarray(table).tobytes(), len(self.numbers))
            self.calls.append((number, len(alphas)))
        first = int(np.flatnonzero(self.grid == alphas[0])[0])
        counts = self.counts[first : first + len(alphas)]
        np.testing.assert_array_equal(alphas, self.grid[first : first + len(alphas)])
        place = self.n_subsamples - 1 - number if self.last else number
        return Path(tuple(self._solution(a, int(c > place)) for a, c in zip(alphas, counts, strict=True)))

    @staticmethod
    def _solution(alpha, edge):
        return Solution(Network(np.zeros(2), [[0, 1]] * edge, np.ones(edge)), alpha, converged=True)

    def choose(self, **settings):
        return stars(coins, alphas=self.grid, n_subsamples=self.n_subsamples, function=self, **settings)

    @property
    def instability(self):
        return 2 * self.counts * (self.n_subsamples - self.counts) / self.n_subsamples**2


# --- a known curve has a known choice ---------------------------------------------------------------------------------

CURVES = [  # subsamples out of 10 that have the edge; threshold; number of the choice
    ([0, 0, 1, 3, 5, 8], 0.2, 2),
    ([0, 0, 1, 3, 5, 8], 0.17, 1),
    ([0, 1, 2, 10, 10, 3], 0.4, 4),
    ([0, 5, 10, 10, 10, 10], 0.4, 0),  # unstable once, and never again chosen
    ([0, 1, 10, 9, 10, 5], 0.18, 4),
    ([0, 0, 0, 0, 0, 0], 0.05, 5),
    ([0, 2, 4, 5, 5, 5], 0.5, 5),
    ([0, 0, 1, 1, 1, 1], 0.0, 1),
    ([3, 0, 0, 0, 0, 0], 0.05, 0),
]


@quiet_ends
@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("bounded", [False, True])
@pytest.mark.parametrize(("counts", "threshold", "index"), CURVES)
def test_known_curve(counts, threshold, index, bounded, last, unbounded):
    curve = KnownCurve(counts, last=last)
    if not bounded:
        unbounded()
    found = curve.choose(threshold=threshold)
    assert (found.index, found.alpha) == (index, curve.grid[index])
    run = np.isfinite(found.instability)
    assert run.all() or bounded
    np.testing.assert_allclose(found.instability[run], curve.instability[run], rtol=1e-15)
    np.testing.assert_allclose(found.monotone[run], np.maximum.accumulate(curve.instability)[run], rtol=1e-15)
    np.testing.assert_array_equal(run, np.arange(len(counts)) < run.sum())
    assert len(found.edge_frequencies) == run.sum() == np.isfinite(found.monotone).sum()
    for k, shares in enumerate(found.edge_frequencies):
        np.testing.assert_allclose(shares.toarray(), counts[k] / 10 * (1 - np.eye(2)))
    assert found.n_fits == sum(length for _, length in curve.calls)


def test_an_instability_that_equals_the_threshold_is_stable():
    for count in range(1, 6):
        threshold = 2 * count * (10 - count) / 100
        found = KnownCurve([0, 0, count, 10, 5, 5] if count < 5 else [0, 0, 5, 10, 0, 5]).choose
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GridEndWarning)
            assert found(threshold=threshold).index == (3 if count < 5 else 5)
            assert found(threshold=np.nextafter(threshold, 0)).index == 1


def test_alphas_beyond_the_threshold_are_not_run():
    counts = [0, 0, 0, 0, 0, 1, 4, 5, 5, 5, 5, 5]
    curve = KnownCurve(counts)
    found = curve.choose(threshold=0.2)
    assert (found.index, found.n_fits) == (5, 80)
    assert curve.calls == [(k, 4) for k in range(10)] * 2
    assert np.isfinite(found.instability).sum() == 8
    assert KnownCurve(counts).choose(threshold=0.49).n_fits == 80


def test_two_subsamples_are_all_there_are():
    curve = KnownCurve([0, 0, 1, 2], n_subsamples=2)
    found = curve.choose(threshold=0.3)
    assert (found.index, found.n_fits) == (1, 8)
    assert found.instability.tolist() == [0.0, 0.0, 0.5, 0.0]


# --- warnings at the ends ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ([0, 0, 0], r"alpha=0\.1 with instability 0 .*Pass other alphas"),
        ([5, 5, 5], r"alpha=1 with instability 0\.5"),
        ([0, 5, 5], r"alpha=1 with instability 0 .*or another threshold"),
    ],
)
def test_a_choice_at_an_end_of_the_grid_warns(counts, message):
    with pytest.warns(GridEndWarning, match=message) as caught:
        KnownCurve(counts).choose()
    [warning] = others(caught)
    assert warning.filename == choices.__file__  # the line that called the package


def test_nothing_that_varies_together_is_nothing_to_choose():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, dtype=np.uint8)
    constant = np.zeros((12, 3), dtype=np.uint8)
    assert stars(X[:, :1], random_state=0).alphas.tolist() == [0.0]
    found = stars(constant, random_state=0)
    assert (found.alpha, found.n_constant, found.frequencies().any()) == (0.0, 0, np.False_)


# --- real problems ----------------------------------------------------------------------------------------------------


def problem(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(3, 9))
    model = simulate.random_network(p, rng.uniform(0.2, 0.8), coupling_range=(-2, 2), random_state=seed)
    return simulate.exact_sample(model, int(rng.integers(60, 500)), random_state=seed), rng.choice([0.02, 0.05, 0.1])


@pytest.mark.filterwarnings("ignore::isinglass.errors.ConstantColumnWarning")
@quiet_ends
@pytest.mark.parametrize("n_tables", [8, pytest.param(50, marks=pytest.mark.long)])
def test_bounded_and_unbounded_agree_and_bounded_does_less(n_tables, monkeypatch):
    n_fits = []
    for seed in range(n_tables):
        X, threshold = problem(seed)
        settings = {"threshold": threshold, "random_state": seed, "alphas": 20, "n_subsamples": 10}
        counter = []
        with monkeypatch.context() as patch:
            patch.setattr(module, "AT_ONCE", 10**9)
            full = stars(X, **settings)

        def counting(table, alphas, counter=counter):
            counter.append(len(alphas))
            return ising_path(table, alphas)

        found = stars(X, function=counting, **settings)
        assert (found.index, found.alpha) == (full.index, full.alpha)
        run = np.isfinite(found.instability)
        np.testing.assert_array_equal(found.alphas, full.alphas)
        np.testing.assert_array_equal(found.instability[run], full.instability[run])
        assert full.n_fits == 200
        assert found.n_fits == sum(counter) <= 200
        n_fits.append(found.n_fits)
    assert np.mean(n_fits) < 100


@pytest.mark.parametrize("paths", [PathSettings(), PathSettings("nodewise"), PathSettings("exact")])
def test_works_with_any_estimator(paths):
    model = simulate.chain_network(5, strength=2.5, fields="balanced")
    X = simulate.exact_sample(model, 600, random_state=3)
    found = stars(X, paths=paths, n_subsamples=8, alphas=12, random_state=0)
    assert found.instability[0] == 0.0
    assert 0 < found.index < 11
    edges = Task(as_table(X), paths).path([found.alpha])[0].edge_index.tolist()
    assert [edge for edge in edges if found.frequencies()[tuple(edge)] > 0.9] == [[0, 1], [1, 2], [2, 3], [3, 4]]


@quiet_ends
def test_the_grid_starts_above_every_subsample(unbounded):
    unbounded()
    X = simulate.exact_sample(simulate.random_network(5, 0.5, random_state=2), 100, random_state=2)
    found = stars(X, subsample_size=20, random_state=0, n_subsamples=30, alphas=10)
    assert found.alphas[0] > alpha_max(X)
    assert found.instability[0] == 0.0
    assert found.instability[1] > 0.0
    np.testing.assert_allclose(found.alphas[-1] / found.alphas[0], 0.01)


@quiet_ends
def test_frequencies_are_those_of_the_subsamples(unbounded):
    unbounded()
    X = simulate.exact_sample(simulate.random_network(6, 0.5, random_state=5), 400, random_state=5)
    tables = []

    def keeping(table, alphas):
        tables.append(np.asarray(table))
        return ising_path(table, alphas)

    found = stars(X, alphas=[0.1, 0.05, 0.03], function=keeping, n_subsamples=6, random_state=0)
    assert len(tables) == 6
    assert {len(table) for table in tables} == {200}  # ⌊10 √400⌋
    rows = X.tolist()
    for table in tables:  # without replacement: no row more often than in the whole
        assert all(table.tolist().count(row) <= rows.count(row) for row in table.tolist())
    for k, alpha in enumerate(found.alphas):
        shares = np.mean([ising_path(table, [alpha])[0].couplings != 0 for table in tables], axis=0)
        np.testing.assert_allclose(found.frequencies(k), shares)
        pairs = np.triu_indices(6, 1)
        np.testing.assert_allclose(found.instability[k], np.mean(2 * shares[pairs] * (1 - shares[pairs])))
    np.testing.assert_array_equal(found.frequencies(), found.frequencies(found.index))


@pytest.mark.parametrize(("n_samples", "size"), [(3, 2), (100, 80), (144, 115), (145, 120), (10_000, 1000)])
def test_default_size(n_samples, size):
    X = np.zeros((n_samples, 1), np.uint8)
    X[::2] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = stars(X, random_state=0, n_subsamples=2, alphas=[0.1])
    assert found.subsample_size == size


# --- the same bits everywhere -----------------------------------------------------------------------------------------

TABLE = simulate.exact_sample(simulate.random_network(8, 0.4, random_state=1), 300, random_state=1)


def bits(found):
    arrays = [found.alphas, found.instability, found.monotone]
    arrays += [part for shares in found.edge_frequencies for part in (shares.data, shares.indices, shares.indptr)]
    return [array.tobytes() for array in arrays], found.alpha, found.index, found.n_fits


@pytest.fixture(scope="module")
def expected():
    return bits(stars(TABLE, random_state=7, n_jobs=1))


@pytest.mark.parametrize("n_jobs", [None, 2, -1])
def test_n_jobs_does_not_matter(n_jobs, expected):
    assert bits(stars(TABLE, random_state=7, n_jobs=n_jobs)) == expected


def test_processes_do_not_matter(expected):
    with joblib.parallel_config(backend="loky", n_jobs=2):
        assert bits(stars(TABLE, random_state=7)) == expected


@pytest.mark.long
@pytest.mark.filterwarnings("default")
def test_dask_does_not_matter_and_a_killed_worker_neither(expected, tmp_path):
    marker = tmp_path / "died"
    with two_workers():
        assert bits(stars(TABLE, random_state=7, function=DeadlyPaths(str(marker)))) == expected
    assert marker.exists()


def test_seeds():
    first, second = (stars(TABLE, random_state=np.random.default_rng(3)) for _ in range(2))
    assert bits(first) == bits(second)
    rng = np.random.default_rng(3)
    assert bits(stars(TABLE, random_state=rng)) == bits(first)
    assert bits(stars(TABLE, random_state=rng)) != bits(first)
    assert bits(stars(TABLE, random_state=4)) != bits(stars(TABLE, random_state=5))


# --- resuming ---------------------------------------------------------------------------------------------------------


class Interrupted:
    """Paths that count their calls and are interrupted at one of them."""

    def __init__(self, at=None):
        self.at, self.calls = at, 0

    def __call__(self, table, alphas):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return Task(table).path(alphas)


@pytest.mark.parametrize("at", [2, 3, 12, 20])
def test_an_interrupted_run_resumes(tmp_path, expected, at):
    file, first, second, third = tmp_path / "run.npz", Interrupted(at), Interrupted(), Interrupted()
    with pytest.raises(KeyboardInterrupt):
        stars(TABLE, random_state=7, function=first, checkpoint=file)
    assert bits(stars(TABLE, random_state=7, function=second, checkpoint=file)) == expected
    n_calls = expected[-1] // 4  # of four alphas each
    assert second.calls == n_calls - (at - 1)
    assert bits(stars(TABLE, random_state=7, function=third, checkpoint=file)) == expected
    assert third.calls == 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"X": TABLE ^ 1}, "differs in X"),
        ({"random_state": 8}, "random_state"),
        ({"n_subsamples": 21}, "n_subsamples"),
        ({"alphas": 31}, "alphas"),
        ({"estimator": "nodewise"}, "paths.estimator"),
        ({"subsample_size": 100}, "subsample_size"),
    ],
)
def test_a_checkpoint_of_another_run_is_refused(tmp_path, change, named):
    settings = {"X": TABLE, "random_state": 7, "checkpoint": tmp_path / "run.npz"}
    stars(**settings)
    with pytest.raises(DataError, match=f"belongs to other data or settings.*{named}"):
        stars(**{**settings, **change})


def test_a_checkpoint_serves_another_threshold(tmp_path, unbounded):
    unbounded()
    calls = Interrupted()
    settings = {"random_state": 7, "checkpoint": tmp_path / "run.npz", "function": calls}
    stars(TABLE, **settings)
    other = stars(TABLE, threshold=0.1, **settings)
    assert calls.calls == 20
    assert other.alpha == stars(TABLE, threshold=0.1, random_state=7).alpha


def test_a_checkpoint_needs_a_seed(tmp_path):
    with pytest.raises(DataError, match="A checkpoint needs a random_state"):
        stars(TABLE, random_state=None, checkpoint=tmp_path / "run.npz")


# --- weights ----------------------------------------------------------------------------------------------------------


def test_equal_weights_are_no_weights():
    expected = stars(TABLE, random_state=7)
    found = stars(TABLE, random_state=7, sample_weight=np.full(len(TABLE), 0.5))
    np.testing.assert_allclose(found.alphas, expected.alphas, rtol=1e-12)
    assert found.index == expected.index
    np.testing.assert_array_equal(found.instability, expected.instability)


def test_rows_of_weight_zero_are_not_there():
    expected = stars(TABLE, random_state=7)
    X = np.vstack([TABLE, 1 - TABLE[:50]])
    found = stars(X, random_state=7, sample_weight=np.r_[np.ones(len(TABLE)), np.zeros(50)])
    np.testing.assert_allclose(found.alphas, expected.alphas, rtol=1e-12)
    assert (found.index, found.subsample_size) == (expected.index, expected.subsample_size)


@quiet_ends
def test_every_fit_gets_the_weights_of_its_rows():
    weight = np.arange(1.0, 301.0)
    labeled = np.column_stack([(np.arange(300) >> k) & 1 for k in range(9)])  # a row spells its number
    table, seen = as_table(labeled, weight_kind="sampling"), []

    def weighing(table, alphas):
        seen.append(table.sample_weight / (1.0 + np.asarray(table) @ (1 << np.arange(9))))
        return ising_path(table, alphas)

    stars(table, alphas=[0.5, 0.4], function=weighing, sample_weight=weight, threshold=0.5)
    np.testing.assert_allclose(np.concatenate(seen), seen[0][0], rtol=1e-12)


def test_equal_rows_that_a_count_stands_for_are_drawn_one_by_one():
    counts = np.random.default_rng(0).integers(0, 4, len(TABLE))
    expected = stars(np.repeat(TABLE, counts, axis=0), random_state=7)
    found = stars(TABLE, random_state=7, sample_weight=counts)
    np.testing.assert_array_equal(found.alphas, expected.alphas)
    np.testing.assert_array_equal(found.instability, expected.instability)


@pytest.mark.parametrize("weight", [None, np.arange(90) % 3])
def test_rows_of_one_group_are_drawn_together(weight):
    groups = np.repeat(np.arange(30), 3)
    table = (groups[:, None] >> np.arange(5)) & 1  # the group of every row in binary digits
    seen = []

    def count_rows(table, alphas):
        seen.append(np.bincount(np.asarray(table) @ (1 << np.arange(5)), minlength=30))
        return ising_path(table, alphas)

    settings = {"alphas": [0.5], "sample_weight": weight}
    stars(table, groups=groups, function=count_rows, **settings)
    assert {tuple(np.unique(rows)) for rows in seen} == {(0, 3)}  # all three rows, or none
    assert {np.count_nonzero(rows) for rows in seen} == {24}


def test_a_checkpoint_of_other_groups_is_refused(tmp_path):
    settings = {"random_state": 7, "checkpoint": tmp_path / "run.npz"}
    stars(TABLE, groups=np.arange(300) // 2, **settings)
    with pytest.raises(DataError, match="differs in groups"):
        stars(TABLE, groups=np.arange(300) // 3, **settings)


def test_a_checkpoint_of_other_weights_is_refused(tmp_path):
    settings = {"random_state": 7, "checkpoint": tmp_path / "run.npz"}
    stars(TABLE, sample_weight=np.linspace(0.5, 1.5, 300), **settings)
    with pytest.raises(DataError, match="differs in X"):
        stars(TABLE, **settings)


# --- degenerate tables and bad input ----------------------------------------------------------------------------------


def test_rare_columns_are_counted_and_reported_once():
    X = np.column_stack([TABLE, np.arange(300) < 2])
    with pytest.warns(ConstantColumnWarning) as caught:
        found = stars(X, random_state=0, n_jobs=2)
    (warning,) = [item for item in caught if item.category is ConstantColumnWarning]
    assert 0 < found.n_constant < 20
    assert f"in {found.n_constant} of 20 subsamples" in str(warning.message)
    assert "larger subsample_size than 173" in str(warning.message)


def test_fits_that_did_not_converge_are_reported_once():
    with pytest.warns(ConvergenceWarning, match=r"\d+ of \d+ fits of subsamples did not reach the tolerance") as caught:
        stars(TABLE, random_state=0, max_iter=1)
    assert len(others(caught)) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_subsamples": 1}, "n_subsamples must be an integer of at least 2"),
        ({"n_subsamples": 2.0}, "n_subsamples must be an integer"),
        ({"subsample_size": 300}, "subsample_size must be from 2 to 299"),
        ({"subsample_size": 1}, "subsample_size must be from 2"),
        ({"subsample_size": 0.8}, "subsample_size must be an integer"),
        ({"threshold": -0.01}, "threshold must be finite and not negative"),
        ({"threshold": 0.51}, "threshold must be from 0 to 0.5"),
        ({"threshold": float("nan")}, "threshold must be finite and not negative"),
        ({"alphas": 0}, "alphas must be a count of at least 1"),
        ({"alphas": [0.1, -0.1]}, "alphas must be finite and not negative"),
        ({"alphas": True}, "alphas must be a count"),
        ({"alphas": "many"}, "alphas must be a count"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
    ],
)
def test_bad_settings(settings, message):
    with pytest.raises(DataError, match=message):
        stars(TABLE, **{"random_state": 0, **settings})


def test_bad_tables():
    with pytest.raises(DataError, match="at least 3 rows"):
        stars([[0, 1], [1, 0]])
    with pytest.raises(DataError, match="only 0 and 1"):
        stars([[0, 2], [1, 0], [1, 1]])


def test_the_record_is_readable_and_frozen():
    found = stars(TABLE, random_state=7)
    assert isinstance(found, Stability)
    assert f"alpha={found.alpha:.6g}: number {found.index + 1} of 30" in repr(found)
    assert "20 subsamples of 173 rows" in repr(found)
    assert f"{found.n_fits} fits" in repr(found)
    with pytest.raises(AttributeError):
        found.alpha = 1.0
    with pytest.raises(ValueError, match="read-only"):
        found.monotone[0] = 1.0


@quiet_ends
@given(st.lists(st.integers(0, 10), min_size=1, max_size=12), st.sampled_from([0.0, 0.05, 0.18, 0.2, 0.32, 0.42, 0.5]))
def test_any_curve_bounded_or_not(counts, threshold):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AT_ONCE", 10**9)
        full = KnownCurve(counts).choose(threshold=threshold).index
    choices = [full, KnownCurve(counts).choose(threshold=threshold).index]
    stable = np.maximum.accumulate(KnownCurve(counts).instability) <= threshold
    assert choices == [max(int(stable.sum()) - 1, 0)] * 2


def others(caught):
    """Return the warnings that are not about the few columns of these tables."""
    return [warning for warning in caught if warning.category is not FewColumnsWarning]


def test_few_columns_earn_a_warning():
    table = simulate.gibbs_sample(simulate.random_network(20, 0.1, random_state=0), 200, random_state=0)
    with pytest.warns(FewColumnsWarning, match="with 19 it misses most edges"):
        stars(table[:, :19], alphas=[0.2, 0.1, 0.01], n_subsamples=2, random_state=0)
    with_covariates = as_table(table, covariates=[18, 19])
    with pytest.warns(FewColumnsWarning, match="with 18 it misses most edges"):
        stars(with_covariates, alphas=[0.2, 0.1, 0.01], n_subsamples=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for columns in (table, table[:, :1]):
            stars(columns, alphas=[0.2, 0.1, 0.01], n_subsamples=2, random_state=0)
