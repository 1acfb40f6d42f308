"""The objective of a table with columns of any kind, written down column by column and pair by pair.

It shares no arithmetic with the package: a category is a vector (its score, or a unit vector), the block of a pair is a
matrix B, and everything is a sum over columns and pairs. Of a nominal side, ‖Θ‖ is √2 times ‖B‖ (docs/math.md).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from isinglass._core import free_ridge
from isinglass.arguments import check_not_negative
from isinglass.arrays import FloatArray, Mask
from isinglass.data import Table
from isinglass.errors import DataError
from isinglass.matching import require_same
from isinglass.network import Network
from isinglass.penalties import Penalty

_STEPS = 100
_STATIONARY = 1e-14
Pair = tuple[int, int]


class Objective:
    """F of a table: its value at a network, its optimality conditions and its duality gap; see `slow_objective.of`.

    A dual point is π = (1 − c) e_x + c P for the probabilities P at stationary fields, which Newton's method gives to
    rounding; gaps are true up to rounding only, unless all columns have two values. Where a pair has no penalty, all
    have a ridge. A covariate has no loss.
    """

    def __init__(self, table: Table, penalty_weights: Penalty) -> None:
        self.variables, self.codes = table.variables, table.codes.astype(int)
        total = float(table.unit_weight.sum())
        self.weight = table.unit_weight / total
        self.vectors, self.shares, self.sd, self.range = [], [], [], []
        self.modelled = table.variables.is_modeled.tolist()
        for s, (scores, q) in enumerate(zip(table.variables.scores, table.variables.sizes.tolist(), strict=True)):
            share = np.array([self.weight[self.codes[:, s] == k].sum() for k in range(q)])
            if scores is None:
                self.vectors.append(np.eye(q))
                self.range.append(1.0)
                self.sd.append(np.sqrt(sum(a * b for a, b in combinations(share, 2))))  # corners at a distance of 1
            else:
                points = np.array(scores)
                self.vectors.append(points[:, None])
                self.range.append(points.max() - points.min())
                self.sd.append(np.sqrt(share @ (points - share @ points) ** 2))
            self.shares.append(share)
        self.smallest = 0.5 / total  # the share of half a row
        p = len(self.vectors)
        self.omega = {pair: self._penalty(pair, penalty_weights) for pair in combinations(range(p), 2)}
        self.has_free = 0.0 in self.omega.values()
        self.nominal = [scores is None for scores in table.variables.scores]

    def _penalty(self, pair: Pair, weights: Penalty) -> float:
        s, t = pair
        if min(np.count_nonzero(self.shares[s]), np.count_nonzero(self.shares[t])) < 2:
            return float("inf")  # a constant column
        if not (self.modelled[s] and self.modelled[t]):
            return 0.0 if self.modelled[s] or self.modelled[t] else float("inf")
        if weights is None:
            return 1.0
        if isinstance(weights, str):
            return float(self.sd[s] * self.range[t] + self.sd[t] * self.range[s])
        return float(np.asarray(weights)[s, t])

    def value(self, network: Network, alpha: float = 0.0) -> float:
        """Return F; with ``alpha=0`` the mean negative log pseudo-likelihood per row."""
        return self._value(network, alpha, self._fields(network))

    def _value(self, network: Network, alpha: float, fields: list[FloatArray]) -> float:
        rows = np.arange(len(self.codes))
        value = 0.0
        for s, logs in enumerate(self._log_probabilities(network, fields)):
            value -= float(self.weight @ logs[rows, self.codes[:, s]])
        for pair, block in self._blocks(network).items():
            norm = self._scale(pair) * float(np.linalg.norm(block))
            if norm > 0.0:
                value += self._limit(pair, alpha) * norm + self._ridge(pair) * norm**2 / 2.0
        return value

    def gradient(self, network: Network) -> tuple[FloatArray, FloatArray]:
        """Return the derivatives of F without its penalty: by the couplings, a symmetric matrix, and by the fields.

        Rows of the matrix are the coordinates of the variables: one for a column with scores, else one per category.
        """
        slopes, node = self._gradient(self._probabilities(network, self._fields(network)))
        begin = np.cumsum([0, *(points.shape[1] for points in self.vectors)])
        edge = np.zeros((begin[-1], begin[-1]))
        for (s, t), block in slopes.items():
            edge[begin[s] : begin[s + 1], begin[t] : begin[t + 1]] = block
            edge[begin[t] : begin[t + 1], begin[s] : begin[s + 1]] = block.T
        return edge, np.concatenate([slope[1:] for slope in node])

    def kkt_residual(self, network: Network, alpha: float) -> float:
        """Return the largest violation of the optimality conditions over all fields and pairs (docs/math.md).

        Scores count as if they had a range of 1.
        """
        slopes, node = self._gradient(self._probabilities(network, self._fields(network)))
        worst = max(float(np.abs(slope).max()) for slope in node)
        blocks = self._blocks(network)
        for pair, slope in self._centered(slopes).items():
            theta = self._scale(pair) * blocks.get(pair, np.zeros_like(slope))
            limit, norm = self._limit(pair, alpha), float(np.linalg.norm(theta))
            if norm > 0.0:
                violation = float(np.linalg.norm(slope + (limit / norm + self._ridge(pair)) * theta))
            else:
                violation = max(float(np.linalg.norm(slope)) - limit, 0.0)
            worst = max(worst, violation / (self.range[pair[0]] * self.range[pair[1]]))
        return worst

    def duality_gap(self, network: Network, alpha: float) -> float:
        """Return an upper bound of F − min F from a feasible point of the dual (docs/math.md)."""
        return max(self.value(network, alpha) - self._dual(network, alpha)[0], 0.0)

    def relative_gap(self, network: Network, alpha: float) -> float:
        """Return the duality gap divided by max(F without penalized edges, 1e-12)."""
        return self.duality_gap(network, alpha) / max(self.value(self.null_model()), 1e-12)

    def certified_zeros(self, network: Network, alpha: float) -> Mask:
        """Return the symmetric matrix of penalized pairs proved to be zero in *every* optimum.

        Forbidden pairs are False: they are zero by definition, and nothing is proved about them.
        """
        dual, moments = self._dual(network, alpha)
        gap = max(self._value(network, alpha, self._stationary_fields(network)) - dual, 0.0)
        proved = np.zeros((len(self.vectors),) * 2, dtype=bool)
        for (s, t), moment in moments.items():
            spread = (self.range[s] * self.sd[t]) ** 2 + (self.range[t] * self.sd[s]) ** 2
            is_zero = moment + np.sqrt(gap / 2.0 * spread) < self._limit((s, t), alpha)
            proved[s, t] = proved[t, s] = is_zero and np.isfinite(self.omega[s, t])
        return proved

    def alpha_max(self) -> float:
        """Return the smallest alpha at which every penalized coupling is zero; 0 if nothing is penalized."""
        null = self.null_model()
        slopes, _ = self._gradient(self._probabilities(null, self._fields(null)))
        ratios = [
            float(np.linalg.norm(slope)) / self.omega[pair]
            for pair, slope in self._centered(slopes).items()
            if 0.0 < self.omega[pair] < np.inf
        ]
        return max(ratios, default=0.0)

    def null_model(self) -> Network:
        """Return the optimum without edges; a category that does not occur has the field of half a row."""
        if self.has_free:
            raise DataError("every pair must be penalized here; some have no penalty.")
        logs = [np.log(np.maximum(share, self.smallest)) for share in self.shares]
        return Network(np.concatenate([log[1:] - log[0] for log in logs]), [], [], variables=self.variables)

    def profile(self, network: Network) -> Network:
        """Return the network with its fields at their optimum given the couplings, which stay."""
        later = np.concatenate([field[1:] - field[0] for field in self._stationary_fields(network)])
        return Network(later, network.pairs, variables=self.variables, pair_parameters=network.pair_parameters)

    def _limit(self, pair: Pair, alpha: float) -> float:
        """Return α ω; infinite where the pair is forbidden."""
        return float("inf") if np.isinf(self.omega[pair]) else check_not_negative("alpha", alpha) * self.omega[pair]

    def _ridge(self, pair: Pair) -> float:
        has_ridge = self.has_free and np.isfinite(self.omega[pair])
        return free_ridge * (self.range[pair[0]] * self.range[pair[1]]) ** 2 if has_ridge else 0.0

    def _scale(self, pair: Pair) -> float:
        """Return ‖Θ‖ / ‖B‖."""
        return float(np.sqrt(2.0) ** (self.nominal[pair[0]] + self.nominal[pair[1]]))

    def _fields(self, network: Network) -> list[FloatArray]:
        require_same(self.variables, network.variables)
        ends = np.cumsum([len(points) for points in self.vectors])
        return np.split(network.category_fields, ends[:-1])

    def _blocks(self, network: Network) -> dict[Pair, FloatArray]:
        blocks, first = {}, 0
        for s, t in network.pairs.tolist():
            shape = self.vectors[s].shape[1], self.vectors[t].shape[1]
            end = first + shape[0] * shape[1]
            blocks[s, t] = network.pair_parameters[first:end].reshape(shape)
            first = end
        return blocks

    def _log_probabilities(self, network: Network, fields: list[FloatArray]) -> list[FloatArray]:
        """Return log P of every category of every column, a row of the table each."""
        seen = [points[self.codes[:, s]] for s, points in enumerate(self.vectors)]
        eta = [np.zeros_like(points) for points in seen]
        for (s, t), block in self._blocks(network).items():
            eta[s] += seen[t] @ block.T
            eta[t] += seen[s] @ block
        found = []
        for s, points in enumerate(self.vectors):
            logits = np.where(self.shares[s] > 0.0, fields[s] + eta[s] @ points.T, -np.inf)
            top = logits.max(axis=1, keepdims=True)
            logs = logits - top - np.log(np.exp(logits - top).sum(axis=1, keepdims=True))
            if not self.modelled[s]:
                logs = np.where(np.arange(len(points)) == self.codes[:, s, None], 0.0, -np.inf)
            found.append(logs)
        return found

    def _probabilities(self, network: Network, fields: list[FloatArray]) -> list[FloatArray]:
        return [np.exp(logs) for logs in self._log_probabilities(network, fields)]

    def _gradient(self, P: list[FloatArray]) -> tuple[dict[Pair, FloatArray], list[FloatArray]]:
        """Return the derivatives by the block of every pair and by the fields of every column."""
        seen = [points[self.codes[:, s]] for s, points in enumerate(self.vectors)]
        off = [(P[s] @ points - seen[s]) * self.weight[:, None] for s, points in enumerate(self.vectors)]
        slopes = {(s, t): off[s].T @ seen[t] + seen[s].T @ off[t] for s, t in self.omega}
        return slopes, [self._field_slopes(s, P[s]) for s in range(len(P))]

    def _field_slopes(self, s: int, P: FloatArray) -> FloatArray:
        observed = np.arange(P.shape[1]) == self.codes[:, s, None]
        return self.weight @ (P - observed)

    def _centered(self, slopes: dict[Pair, FloatArray]) -> dict[Pair, FloatArray]:
        """Return the derivatives by Θ: without the part that is the same for all categories of a nominal side."""
        found = {}
        for (s, t), slope in slopes.items():
            if self.nominal[s]:
                slope = slope - slope.mean(axis=0, keepdims=True)
            if self.nominal[t]:
                slope = slope - slope.mean(axis=1, keepdims=True)
            found[s, t] = slope / self._scale((s, t))
        return found

    def _stationary_fields(self, network: Network) -> list[FloatArray]:
        """Return the fields at their optimum given the couplings: Newton's method, column by column."""
        fields = [field.copy() for field in self._fields(network)]
        for _ in range(_STEPS):
            P = self._probabilities(network, fields)
            slopes = [self._field_slopes(s, P[s]) for s in range(len(P))]
            if max(float(np.abs(slope).max()) for slope in slopes) <= _STATIONARY:
                break
            steps = []
            for part, slope in zip(P, slopes, strict=True):
                curve = np.diag(self.weight @ part) - part.T @ (part * self.weight[:, None])
                steps.append(np.linalg.lstsq(curve, slope, rcond=1e-12)[0])
            longest = max(float(np.abs(step).max()) for step in steps)
            for field, step in zip(fields, steps, strict=True):
                field -= step * min(1.0, 2.0 / max(longest, 1e-300))
        return fields

    def _dual(self, network: Network, alpha: float) -> tuple[float, dict[Pair, float]]:
        """Return the dual objective at a feasible point, and the norms of the moments of its pairs."""
        P = self._probabilities(network, self._stationary_fields(network))
        norms = {pair: float(np.linalg.norm(slope)) for pair, slope in self._centered(self._gradient(P)[0]).items()}
        ratios = [self._limit(pair, alpha) / norm for pair, norm in norms.items() if norm > 0.0]
        c = 1.0 if self.has_free else min(1.0, *ratios, 1.0)
        dual = 0.0
        for s, part in enumerate(P):
            mixed = c * part + (1.0 - c) * (np.arange(part.shape[1]) == self.codes[:, s, None])
            dual -= float(
                self.weight @ np.where(mixed > 0.0, mixed * np.log(np.maximum(mixed, 1e-300)), 0.0).sum(axis=1)
            )
        for pair, norm in norms.items():
            if self._ridge(pair) > 0.0:
                dual -= max(norm - self._limit(pair, alpha), 0.0) ** 2 / (2.0 * self._ridge(pair))
        return dual, {pair: c * norm for pair, norm in norms.items()}
