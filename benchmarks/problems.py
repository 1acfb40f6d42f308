"""The named problems of the benchmark: seeded tables and the alphas to solve, the same for every rival."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

CACHE = Path(__file__).parent / ".cache"
DATA_VERSION = 1  # raise it when a generator changes, so that cached tables are made again

# The paper's table "tab:lambda", rows BMN & PLG: P -> alpha for p = 5, 10, 15, 20, 25.
GRID_SIZES = (5, 10, 15, 20, 25)
GRID_ALPHAS = {
    0.2: (0.01566, 0.01971, 0.018, 0.0135, 0.0108),
    0.3: (0.0117, 0.0144, 0.01408, 0.006975, 0.00702),
    0.4: (0.0189, 0.01863, 0.0171, 0.0135, 0.0108),
    0.5: (0.02016, 0.01728, 0.012, 0.009, 0.0072),
}


@dataclass(frozen=True)
class Problem:
    """One table and the alphas to solve on it.

    Parameters
    ----------
    name, group, description : str
        The group is a section of the report: grid, senate, sparse, dense, unbalanced, growth_p or growth_n.
    make : callable
        Returns the 0/1 table; called at most once, the result is cached on disk.
    ratio_to : float
        Last alpha of the path as a share of alpha_max; ignored when ``given`` is set.
    n_alphas : int
        Length of a path made from alpha_max.
    given : tuple of float
        The alphas themselves, decreasing.
    """

    name: str
    group: str
    description: str
    make: Callable[[], NDArray[np.uint8]]
    ratio_to: float = 0.5
    n_alphas: int = 10
    given: tuple[float, ...] = ()

    @cached_property
    def X(self) -> NDArray[np.uint8]:  # noqa: N802 (the matrix keeps its name)
        """The table, from the cache when it is there."""
        file = CACHE / "tables" / f"{self.name}-v{DATA_VERSION}.npz"
        if file.exists():
            return np.load(file)["X"]
        table = np.ascontiguousarray(self.make(), dtype=np.uint8)
        file.parent.mkdir(parents=True, exist_ok=True)
        scratch = file.with_name(f"{file.stem}.{os.getpid()}.npz")
        np.savez_compressed(scratch, X=table)
        scratch.replace(file)
        return table

    @cached_property
    def alphas(self) -> NDArray[np.float64]:
        """Decreasing alphas; several are one warm-started path, one is a cold start."""
        if self.given:
            return np.array(self.given)
        top = closed_form_alpha_max(self.X)
        return np.geomspace(top, self.ratio_to * top, self.n_alphas)

    @property
    def mode(self) -> str:
        """``single`` or ``path``."""
        return "single" if len(self.given) == 1 else "path"


def closed_form_alpha_max(X: NDArray[np.uint8], block: int = 1000) -> float:
    """Twice the largest absolute covariance of two columns, by blocks of columns (docs/math.md)."""
    centered = X - X.mean(axis=0)
    largest = 0.0
    for start in range(0, X.shape[1], block):
        covariance = np.abs(centered[:, start : start + block].T @ centered) / len(X)
        rows = np.arange(covariance.shape[0])
        covariance[rows, start + rows] = 0.0
        largest = max(largest, float(covariance.max()))
    return 2.0 * largest


def gibbs_table(
    couplings: sp.csr_array, fields: NDArray[np.float64], n_samples: int, n_sweeps: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Sample rows by Gibbs sampling, one chain per row, all chains in step: rows are independent."""
    p = len(fields)
    state = (rng.random((p, n_samples)) < 0.5).astype(np.float32)  # node-major: a step reads whole rows
    neighbors = [couplings.indices[couplings.indptr[s] : couplings.indptr[s + 1]] for s in range(p)]
    weights = [couplings.data[couplings.indptr[s] : couplings.indptr[s + 1]].astype(np.float32) for s in range(p)]
    for _ in range(n_sweeps):
        for s in range(p):
            eta = weights[s] @ state[neighbors[s]] + np.float32(fields[s])
            # P(x = 1) = sigmoid(eta), i.e. a uniform u < sigmoid(eta)  <=>  u (1 + exp(-eta)) < 1
            state[s] = rng.random(n_samples, dtype=np.float32) * (1.0 + np.exp(-eta)) < 1.0
    return state.T.astype(np.uint8)


def paper_table(
    p: int, probability: float, seed: int, first_field: float | None = None, n_samples: int = 1000
) -> NDArray[np.uint8]:
    """Sample the paper's network: each element of Θ, diagonal included, is non-zero with one probability."""
    rng = np.random.default_rng([seed, p, round(100 * probability)])
    upper = np.triu(rng.uniform(-1, 1, (p, p)) * (rng.random((p, p)) < probability))
    theta = upper + np.triu(upper, 1).T
    fields = theta.diagonal().copy()
    if first_field is not None:
        fields[0] = first_field
    np.fill_diagonal(theta, 0.0)
    return gibbs_table(sp.csr_array(theta), fields, n_samples, 1000, rng)


def sparse_table(p: int, n_samples: int, seed: int, degree: float = 3.0, n_sweeps: int = 200) -> NDArray[np.uint8]:
    """Sample a random graph of the given average degree, couplings ±[0.5, 1.5], columns balanced by symmetry."""
    rng = np.random.default_rng([seed, p, n_samples])
    pairs = np.sort(rng.integers(0, p, (round(p * degree / 2 * 1.02), 2)), axis=1)
    s, t = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0).T
    values = rng.uniform(0.5, 1.5, len(s)) * rng.choice([-1.0, 1.0], len(s))
    couplings = sp.csr_array((np.r_[values, values], (np.r_[s, t], np.r_[t, s])), shape=(p, p))
    # θ_ss = −½ Σ_t θ_st is a zero field in ±1 coding: every column has mean one half.
    fields = -0.5 * np.asarray(couplings.sum(axis=1)).ravel()
    return gibbs_table(couplings, fields, n_samples, n_sweeps, rng)


def latent_table(n_samples: int, p: int, rank: int, seed: int) -> NDArray[np.uint8]:
    """Sample answers that a few latent factors decide, as abilities, topics and tastes do: every pair depends."""
    rng = np.random.default_rng([seed, n_samples, p, rank])
    loadings = rng.standard_normal((p, rank)) / np.sqrt(rank)
    scores = rng.standard_normal((n_samples, rank))
    logit = 1.7 * scores @ loadings.T - 1.0 + 0.8 * rng.standard_normal(p)
    return (rng.random((n_samples, p)) < 1.0 / (1.0 + np.exp(-logit))).astype(np.uint8)


def senate_table() -> NDArray[np.uint8]:
    """Return the votes of the 109th Senate with missing votes as 0, as in the paper."""
    from isinglass.datasets import load_senate109

    return np.asarray(load_senate109().X, dtype=np.uint8)


def all_problems() -> dict[str, Problem]:
    """Return every problem by name, in the order of the report."""
    problems = [*_grid(), *_senate(), *_sparse(), *_dense(), *_unbalanced(), *_growth()]
    return {problem.name: problem for problem in problems}


QUICK = ("grid-p05-P0.2", "grid-p25-P0.3", "senate-0.06", "growth-p0064")


def _grid() -> list[Problem]:
    return [
        Problem(
            f"grid-p{p:02d}-P{probability}",
            "grid",
            f"the paper's grid, N = 1000, p = {p}, P = {probability}",
            lambda p=p, probability=probability: paper_table(p, probability, seed=2017),
            given=(GRID_ALPHAS[probability][i],),
        )
        for i, p in enumerate(GRID_SIZES)
        for probability in GRID_ALPHAS
    ]


def _senate() -> list[Problem]:
    path = tuple(np.geomspace(0.5, 0.005, 50).tolist())
    return [
        Problem("senate-0.06", "senate", "Senate votes 279 × 100, alpha 0.06", senate_table, given=(0.06,)),
        Problem("senate-path", "senate", "Senate votes 279 × 100, 50 alphas 0.5 → 0.005", senate_table, given=path),
    ]


def _sparse() -> list[Problem]:
    shapes = ((200, 0.4, 30), (1000, 0.4, 30), (10_000, 0.5, 20))
    return [
        Problem(
            f"sparse-p{p}",
            "sparse",
            f"sparse graph, N = 1000, p = {p}, {n_alphas} alphas to {ratio} alpha_max",
            lambda p=p: sparse_table(p, 1000, seed=3),
            ratio_to=ratio,
            n_alphas=n_alphas,
        )
        for p, ratio, n_alphas in shapes
    ]


def _dense() -> list[Problem]:
    shapes = ((400, 500, 5, 30, 0.01), (1600, 180, 3, 30, 0.01), (9000, 100, 5, 30, 0.01), (1600, 1000, 20, 12, 0.05))
    return [
        Problem(
            f"dense-{n}x{p}",
            "dense",
            f"{rank} latent factors, N = {n}, p = {p}, {n_alphas} alphas to {ratio} alpha_max",
            lambda n=n, p=p, rank=rank: latent_table(n, p, rank, seed=1),
            ratio_to=ratio,
            n_alphas=n_alphas,
        )
        for n, p, rank, n_alphas, ratio in shapes
    ]


def _unbalanced() -> list[Problem]:
    return [
        Problem(
            f"unbalanced-{alpha}",
            "unbalanced",
            f"θ_11 = 5, N = 1000, p = 10, alpha {alpha}",
            lambda: paper_table(10, 0.3, seed=5, first_field=5.0),
            given=(alpha,),
        )
        for alpha in (0.05, 0.005, 0.0005)
    ]


def _growth() -> list[Problem]:
    sizes = [
        Problem(
            f"growth-p{64 * k:04d}",
            "growth_p",
            f"N = 1000, p = {64 * k}, average degree 3, 10 alphas to 0.5 alpha_max",
            lambda k=k: sparse_table(64 * k, 1000, seed=7),
        )
        for k in (1, 2, 4, 8, 16)
    ]
    rows = [
        Problem(
            f"growth-n{250 * k:04d}",
            "growth_n",
            f"p = 100, N = {250 * k}, average degree 3, 10 alphas to 0.5 alpha_max",
            lambda k=k: sparse_table(100, 4000, seed=11)[: 250 * k],  # nested tables of one network
        )
        for k in (1, 2, 4, 8, 16)
    ]
    return sizes + rows
