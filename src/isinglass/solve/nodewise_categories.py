"""Node-wise regressions of columns with categories: one multinomial regression per column on all others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass._core import Nodewise
from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork, block_values
from isinglass.data import CategoryTable
from isinglass.network import Network
from isinglass.solve.discrete import Scaled, refuse_free
from isinglass.solve.path import ALL_PAIRS_UP_TO, STRICTNESS
from isinglass.solve.regressions import NodeFits, pair_up, reconcile, spread_paths
from isinglass.threads import thread_count


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CategoryNodeFits(NodeFits):
    """One penalized multinomial regression per node and alpha.

    ``values`` holds the signed coupling of a pair with one parameter and ‖Θ‖ of any other. A column has one field per
    category, so that ``fields`` is NaN.
    """

    blocks: tuple[FloatArray, ...]  #: B of every coefficient, with a row for each category of the lower column
    category_fields: tuple[FloatArray, ...]  #: of every node: one row per alpha, one column per category
    dimensions: NDArray[np.intp]  #: m of every column
    empty: CategoryNetwork  #: the nodes, without edges

    def take(self, choice: int | NDArray[np.intp]) -> CategoryNodeFits:
        """Return the fits at one alpha number, or at one for each node, as a list of length one."""
        alpha, node = self._owners
        picked = np.broadcast_to(choice, self.counts.shape[1])
        wanted = np.flatnonzero(alpha == picked[node])
        fields = tuple(rows[[k]] for rows, k in zip(self.category_fields, picked.tolist(), strict=True))
        taken = super().take(choice)
        assert isinstance(taken, CategoryNodeFits)
        return replace(taken, blocks=tuple(self.blocks[k] for k in wanted.tolist()), category_fields=fields)

    def _prices(self, gamma: float, others: int) -> FloatArray:
        """Return log N for every parameter of a fit, m_s · m_t for each neighbor, and 2γ log(p−1) for each neighbor."""
        alpha, node = self._owners
        n_parameters = np.zeros(self.counts.shape)
        np.add.at(n_parameters, (alpha, node), self.dimensions[node] * self.dimensions[self.columns])
        return np.asarray(np.log(self.n_rows) * n_parameters + 2.0 * gamma * np.log(others) * self.counts)

    def _networks(self, rule: str) -> list[Network]:
        alpha, node = self._owners
        group, pairs, (upper, lower) = pair_up(alpha, node, self.columns)
        bounds = np.searchsorted(group, np.arange(len(self.counts) + 1))
        found = [*self.blocks, None]  # the last for those that are nowhere
        both = zip(upper.tolist(), lower.tolist(), strict=True)
        merged = [_merge_blocks(found[k], found[j], rule) for k, j in both]
        networks: list[Network] = []
        for k in range(len(self.counts)):
            kept = [e for e in range(bounds[k], bounds[k + 1]) if merged[e].any()]
            fields = [rows[k] for rows in self.category_fields]
            blocks = [merged[e] for e in kept]
            values = block_values(self.empty.scores, pairs[kept], blocks)
            networks.append(self.empty.refitted(fields, pairs[kept], values, blocks))
        return networks


def _merge_blocks(a: FloatArray | None, b: FloatArray | None, rule: str) -> FloatArray:
    """Return the block that ``rule`` makes of the two estimates of a pair; None is an estimate of zero."""
    there = [block for block in (a, b) if block is not None]
    zero = np.zeros_like(there[0])
    first, second = (zero if block is None else block for block in (a, b))
    if first.size == 1:
        return np.asarray(reconcile(first, second, rule))
    if len(there) < 2 and rule in ("and", "min"):
        return zero
    if rule in ("min", "max"):
        return min(first, second, key=np.linalg.norm) if rule == "min" else max(first, second, key=np.linalg.norm)
    return (first + second) / (2.0 if rule == "mean" else float(len(there)))


@dataclass(frozen=True)
class CategoryNodes:
    """A table of categories made ready for node-wise regressions.

    The solver's scores have a range of 1. A penalty α‖Θ_st‖ then is α/D_s · ‖Θ‖/D_t, and with standardized columns,
    α D_s sd_t ‖Θ_st‖, it is α · sd_t/D_t · ‖Θ‖.
    """

    problem: Nodewise
    scaled: Scaled
    omega: FloatArray  # penalty weight of each varying column
    units: FloatArray  # of all columns: what alpha is divided by

    @classmethod
    def prepare(
        cls,
        table: CategoryTable,
        sample_weight: ArrayLike | None,
        standardize: bool,
        n_threads: int | None,
        *,
        quiet: bool = False,
    ) -> CategoryNodes:
        """Compile the columns that vary; name the others in one warning, unless ``quiet``."""
        scaled = Scaled.of(table, sample_weight, quiet=quiet)
        columns, widths = scaled.columns, scaled.widths
        problem = Nodewise(scaled.points, scaled.weight, thread_count(n_threads), scaled.ranges, widths[columns])
        omega = scaled.spread()[columns] / widths[columns] if standardize else 1.0 / widths[columns]
        return cls(problem, scaled, omega, np.ones(len(widths)) if standardize else widths)

    @property
    def n_features(self) -> int:
        """Number of columns, constant ones included."""
        return len(self.scaled.shares)

    @property
    def n_rows(self) -> float:
        """Number of rows: the sum of the weights."""
        return self.scaled.n_rows

    @property
    def varying(self) -> NDArray[np.intp]:
        """Where the columns that vary are in the table."""
        return self.scaled.columns

    def alpha_max(self) -> FloatArray:
        """Return each varying node's smallest alpha without coefficients."""
        return np.asarray(self.problem.alpha_max(self.omega) * self.units[self.varying])

    def solve(self, alphas: FloatArray, tol: float, max_iter: int, *, stops_early: bool) -> CategoryNodeFits:
        """Run the regressions, one row of alphas per column of the whole table, and put them back into it."""
        scaled, varying = self.scaled, self.varying
        if np.nanmin(alphas[varying], initial=np.inf) == 0.0:
            raise refuse_free("alphas")
        nodes = np.arange(len(varying), dtype=np.int32)
        grids = np.ascontiguousarray(alphas[varying] / self.units[varying, None])
        strictness = STRICTNESS if len(nodes) > ALL_PAIRS_UP_TO else 0.0
        paths = self.problem.solve(nodes, grids, self.omega, tol, max_iter, strictness, stops_early)
        common = spread_paths(paths, varying, self.n_features)
        counts, columns, losses = common["counts"], common["columns"], common["losses"]
        node, alpha = np.divmod(np.repeat(np.arange(counts.size), counts.T.ravel()), len(counts))
        pairs = np.sort(np.column_stack([node, columns]), axis=1)
        blocks = scaled.blocks(pairs, paths.values)
        return CategoryNodeFits(
            alphas=alphas.T,
            fields=np.full(counts.shape, np.nan),
            values=block_values(scaled.table.scores, pairs, blocks),
            null_losses=np.array([-float(share[share > 0] @ np.log(share[share > 0])) for share in scaled.shares]),
            n_rows=self.n_rows,
            names=scaled.table.names,
            blocks=tuple(blocks),
            category_fields=self._fields(paths.category_fields, losses, node, alpha, columns, blocks),
            dimensions=scaled.dimensions,
            empty=scaled.empty,
            **common,
        )

    def _fields(
        self,
        solved: FloatArray,
        losses: FloatArray,
        node: NDArray[np.intp],
        alpha: NDArray[np.intp],
        columns: NDArray[np.int32],
        blocks: list[FloatArray],
    ) -> tuple[FloatArray, ...]:
        """Return the fields of every node, a row for each alpha, for scores as they were given."""
        scaled, n_alphas = self.scaled, len(losses)
        on_line, means = scaled.on_line, scaled.means
        found, first = [], 0
        for s in self.varying.tolist():  # node after node, alpha after alpha; a list may have ended early
            size = int(np.count_nonzero(scaled.shares[s]))
            rows = np.full((n_alphas, size), np.nan)
            solved_alphas = np.flatnonzero(np.isfinite(losses[:, s]))
            rows[solved_alphas] = solved[first : first + size * len(solved_alphas)].reshape(-1, size)
            first += size * len(solved_alphas)
            found.append(rows)
        every = np.hstack(found) if found else np.empty((n_alphas, 0))
        sizes = zip(on_line, scaled.shares, strict=True)
        centers = [np.zeros((n_alphas, 1 if line else len(share))) for line, share in sizes]
        for s, k, t, block in zip(node.tolist(), alpha.tolist(), columns.tolist(), blocks, strict=True):
            if on_line[t]:
                centers[s][k] += (block[:, 0] if s < t else block[0]) * means[t]
        fields = [scaled.fields(every[k], [center[k] for center in centers]) for k in range(n_alphas)]
        return tuple(np.array([fields[k][s] for k in range(n_alphas)]) for s in range(self.n_features))
