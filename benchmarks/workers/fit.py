"""Fit one Python solver on the files of a folder and write coefficients and seconds back.

Runs inside the solver's own interpreter and imports nothing but NumPy, SciPy and that solver.
Arguments are ``key=value``: solver, folder, n, p, repeats, budget and the solver's own options.
"""

from __future__ import annotations

import importlib.metadata
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import scipy.sparse as sp

KEEP_FIRST = 10.0  # seconds beyond which the first run is too slow to be discarded
SHORT = 0.3  # seconds to fill with repeats when one run is very short
MOST = 200  # repeats at most

Triplets = tuple[np.ndarray, np.ndarray, np.ndarray]  # coefficient index, alpha index, value


class Job:
    """The files of the folder, read on demand."""

    def __init__(self, arguments: dict[str, str]) -> None:
        self.options = arguments
        self.folder = Path(arguments["folder"])
        self.n, self.p = int(arguments["n"]), int(arguments["p"])
        self.alphas = np.fromfile(self.folder / "alphas.bin")

    def table(self) -> np.ndarray:
        """Return X as bytes in C order (written column by column)."""
        return np.ascontiguousarray(np.fromfile(self.folder / "X.bin", dtype=np.uint8).reshape(self.p, self.n).T)

    def stacked(self) -> tuple[sp.csc_matrix, np.ndarray]:
        """Return the paper's X̃ and ỹ."""
        indptr = np.fromfile(self.folder / "indptr.bin", dtype=np.int32)
        indices = np.fromfile(self.folder / "indices.bin", dtype=np.int32)
        shape = (self.n * self.p, self.p * (self.p + 1) // 2)
        y = np.fromfile(self.folder / "y.bin", dtype=np.uint8).astype(np.float64)
        return sp.csc_matrix((np.ones(len(indices)), indices, indptr), shape=shape), y


def to_triplets(coefficients: np.ndarray) -> Triplets:
    """Keep the non-zeros of a dense (n_alphas, n_coefficients) array."""
    alpha, index = np.nonzero(coefficients)
    return index, alpha, coefficients[alpha, index]


def prepare_isinglass(job: Job) -> tuple[Callable, Callable]:
    """Our own path, at its default tolerance unless ``tol`` is given."""
    if job.options.get("mode") == "nodewise":
        return prepare_isinglass_nodewise(job)
    if job.options.get("mode") == "bmn":
        return prepare_bmn(job)
    from isinglass import ising_path

    X = job.table()
    threads = int(job.options.get("n_threads", 0)) or None
    tol = float(job.options.get("tol", 1e-7))

    def collect(path) -> Triplets:
        index, alpha, value = [], [], []
        for k, solution in enumerate(path):
            s, t = solution.edge_index.astype(np.int64).T
            nodes = np.arange(job.p)
            index += [s * job.p + t, t * job.p + s, nodes * (job.p + 1)]
            value += [solution.edge_values, solution.edge_values, solution.fields]
            alpha.append(np.full(2 * len(s) + job.p, k))
        certificate = np.array([path.objective, path.duality_gap, path.kkt_residual], dtype=np.float64)
        certificate.tofile(job.folder / "certificate.bin")
        return np.concatenate(index), np.concatenate(alpha), np.concatenate(value)

    return lambda: ising_path(X, job.alphas, tol=tol, n_threads=threads), collect


def prepare_isinglass_nodewise(job: Job) -> tuple[Callable, Callable]:
    """One regression per node at half the joint alpha; the coefficients as they are, not symmetrized."""
    from isinglass import nodewise_path

    X = job.table()

    def collect(path) -> Triplets:
        index, alpha, value = [], [], []
        for k, (coefficients, fields) in enumerate(zip(path.asymmetric_couplings, path.nodes.fields, strict=True)):
            entries = coefficients.tocoo()
            index += [entries.row.astype(np.int64) * job.p + entries.col, np.arange(job.p) * (job.p + 1)]
            value += [entries.data, fields]
            alpha.append(np.full(entries.nnz + job.p, k))
        return np.concatenate(index), np.concatenate(alpha), np.concatenate(value)

    return lambda: nodewise_path(X, job.alphas / 2.0, n_threads=int(job.options.get("n_threads", 0)) or None), collect


def prepare_bmn(job: Job) -> tuple[Callable, Callable]:
    """BMN's algorithm at its default stopping rule; the steps alone, the certificate is not its work."""
    sys.path.append(str(Path(__file__).resolve().parents[2]))
    from paper.published.bmn_steps import BmnSteps

    X = job.table()

    def fit() -> list:
        steps = BmnSteps(X, None, 1e-5, 10_000, max(100, job.p))
        return [steps.solve(alpha, False) for alpha in job.alphas]

    def collect(states) -> Triplets:
        return to_triplets(np.stack([theta for theta, *_ in states]).reshape(len(states), -1))

    return fit, collect


def prepare_adelie(job: Job) -> tuple[Callable, Callable]:
    """Group elastic net with groups of one on the stacked design; early exit off so that every alpha is solved."""
    import adelie

    design, y = job.stacked()
    threads = int(job.options.get("n_threads", 1))
    matrix = adelie.matrix.sparse(design, n_threads=threads)
    penalty = np.ones(design.shape[1])
    penalty[-job.p :] = 0.0
    tol = float(job.options.get("tol", 1e-7))

    def fit():
        return adelie.grpnet(
            matrix,
            adelie.glm.binomial(y),
            penalty=penalty,
            lmda_path=job.alphas / job.p,
            intercept=False,
            early_exit=False,
            tol=tol,
            irls_tol=tol,
            n_threads=threads,
            progress_bar=False,
        )

    return fit, lambda state: to_triplets(state.betas.toarray())


def prepare_skglm(job: Job) -> tuple[Callable, Callable]:
    """Prox-Newton working sets on the stacked design, warm-started from alpha to alpha."""
    from skglm.datafits import Logistic
    from skglm.penalties import WeightedL1
    from skglm.solvers import ProxNewton

    design, y = job.stacked()
    sign = 2.0 * y - 1.0
    weights = np.ones(design.shape[1])
    weights[-job.p :] = 0.0
    tol = float(job.options.get("tol", 1e-4))

    def fit(alphas: np.ndarray = job.alphas) -> np.ndarray:
        solver = ProxNewton(tol=tol, fit_intercept=False, max_iter=int(job.options.get("max_iter", 20)))
        found = np.zeros((len(alphas), design.shape[1]))
        w, Xw = None, None
        for k, alpha in enumerate(alphas):
            w = solver.solve(design, sign, Logistic(), WeightedL1(alpha / job.p, weights), w, Xw)[0]
            Xw = design @ w
            found[k] = w
        return found

    fit(job.alphas[:1])  # compiles; the first timed run is discarded as well
    return fit, to_triplets


def prepare_sklearn(job: Job) -> tuple[Callable, Callable]:
    """One LogisticRegression per node, warm-started along the alphas; saga leaves the intercept free."""
    from sklearn.linear_model import LogisticRegression

    X = job.table().astype(np.float64)
    solver = job.options.get("variant", "saga")
    extra = {"intercept_scaling": 1000.0} if solver == "liblinear" else {"warm_start": True}

    def fit_node(s: int) -> np.ndarray:
        others = np.delete(X, s, axis=1)
        found = np.empty((len(job.alphas), job.p))
        model = LogisticRegression(
            l1_ratio=1.0,
            solver=solver,
            tol=float(job.options.get("tol", 1e-4)),
            max_iter=int(job.options.get("max_iter", 100)),
            random_state=0,
            **extra,
        )
        for k, alpha in enumerate(job.alphas):
            model.set_params(C=2.0 / (job.n * alpha)).fit(others, X[:, s])
            found[k] = np.insert(model.coef_[0], s, model.intercept_[0])
        return found

    refuse_if_slow(job, fit_node)

    def collect(nodes: list[np.ndarray]) -> Triplets:
        return to_triplets(np.stack(nodes, axis=1).reshape(len(job.alphas), -1))

    return lambda: [fit_node(s) for s in range(job.p)], collect


def refuse_if_slow(job: Job, fit_node: Callable[[int], object]) -> None:
    """Leave with an estimate from a few nodes when a node-wise run would exceed the budget."""
    budget = float(job.options["budget"])
    if job.p <= 50:
        return
    started = time.perf_counter()
    for done, s in enumerate(np.linspace(0, job.p - 1, 5).astype(int), start=1):
        fit_node(int(s))
        estimate = (time.perf_counter() - started) / done * job.p
        if estimate > 4 * budget:
            break
    if estimate > budget:
        message = f"about {estimate:.0f} s, estimated from {done} nodes, is over the budget of {budget:.0f} s"
        (job.folder / "refused.txt").write_text(message)
        sys.exit(0)


def measure(fit: Callable, repeats: int, budget: float) -> tuple[list[float], object]:
    """Time ``fit``; the first run is discarded unless it is too slow to be repeated."""
    times: list[float] = []
    begun = time.perf_counter()
    while True:
        started = time.perf_counter()
        result = fit()
        times.append(time.perf_counter() - started)
        total = time.perf_counter() - begun
        enough = len(times) > repeats and (total > SHORT or len(times) > MOST)
        if times[0] > KEEP_FIRST or enough or (total > budget / 4 and len(times) > 1):
            break
    return times[1:] or times, result


PREPARE = {
    "isinglass": prepare_isinglass,
    "adelie": prepare_adelie,
    "skglm": prepare_skglm,
    "scikit-learn": prepare_sklearn,
}


def main() -> None:
    """Read the job, fit, write the answer."""
    warnings.simplefilter("ignore")
    arguments = dict(argument.split("=", 1) for argument in sys.argv[1:])
    job = Job(arguments)
    package = arguments["solver"]
    __import__({"scikit-learn": "sklearn"}.get(package, package))
    ready = time.time()
    fit, collect = PREPARE[package](job)
    times, result = measure(fit, int(arguments["repeats"]), float(arguments["budget"]))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    index, alpha, value = collect(result)
    np.asarray(times, dtype=np.float64).tofile(job.folder / "times.bin")
    np.asarray(index, dtype=np.int32).tofile(job.folder / "index.bin")
    np.asarray(alpha, dtype=np.int32).tofile(job.folder / "alpha.bin")
    np.asarray(value, dtype=np.float64).tofile(job.folder / "value.bin")
    lines = {
        "ready": f"{ready:.6f}",
        "version": f"{package} {importlib.metadata.version(package)}",
        "fitted": len(job.alphas),
        "threads": arguments.get("n_threads", "1") if package != "isinglass" else arguments.get("n_threads", "all"),
        "peak_bytes": peak,
    }
    (job.folder / "report.txt").write_text("".join(f"{key}={text}\n" for key, text in lines.items()))


if __name__ == "__main__":
    main()
