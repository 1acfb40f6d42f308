"""Slow twin of the solver for columns with more than two values: dense arrays, a first-order method, no cleverness.

Categories are points, as in docs/math.md. ``theta[s, t]`` of shape (m_s, m_t) is kept for s < t; ``fields[s]`` has one
number per category, the first of them 0. Everything is stated for uncentered scores.
"""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import xlogy


def scores_of(kind, n_levels, given=None):
    """The point of every category, one per row."""
    if n_levels == 2 and given is None:
        return np.array([[0.0], [1.0]])
    if kind == "ordinal":
        return np.arange(float(n_levels))[:, None] if given is None else np.asarray(given, dtype=float)[:, None]
    corners = np.zeros((n_levels, n_levels - 1))
    for k in range(1, n_levels):  # Helmert: orthonormal columns that sum to zero
        corners[:k, k - 1], corners[k, k - 1] = 1.0, -k
        corners[:, k - 1] /= np.sqrt(k * (k + 1.0))
    return corners / np.sqrt(2.0)


class Discrete:
    """A table of category numbers, with scores and weights."""

    def __init__(self, X, kinds, levels=None, *, sample_weight=None, omega=None, scores=None):
        self.X = np.asarray(X, dtype=int)
        self.n, self.p = self.X.shape
        self.levels = [int(q) for q in (self.X.max(axis=0) + 1 if levels is None else levels)]
        given = [None] * self.p if scores is None else scores
        self.scores = [scores_of(*column) for column in zip(kinds, self.levels, given, strict=True)]
        weight = np.ones(self.n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        self.w = weight / weight.sum()
        self.pairs = list(combinations(range(self.p), 2))
        self.omega = np.ones((self.p, self.p)) if omega is None else np.asarray(omega, dtype=float)
        self.points = [phi[self.X[:, s]] for s, phi in enumerate(self.scores)]
        self.sd = np.array([np.sqrt(self.w @ ((x - self.w @ x) ** 2).sum(axis=1)) for x in self.points])
        self.widths = np.array([max(np.linalg.norm(a - b) for a in phi for b in phi) for phi in self.scores])

    def null(self):
        """No couplings, and fields that give the shares of the categories."""
        shares = [np.bincount(self.X[:, s], self.w, q) for s, q in enumerate(self.levels)]
        theta = {(s, t): np.zeros((self.scores[s].shape[1], self.scores[t].shape[1])) for s, t in self.pairs}
        return theta, [np.log(share) - np.log(share[0]) for share in shares]

    def probabilities(self, theta, fields):
        """P(x_s = k | the rest of the row), for every column s."""
        every = []
        for s, phi in enumerate(self.scores):
            eta = np.zeros((self.n, phi.shape[1]))
            for t in range(self.p):
                if t != s:
                    eta += self.points[t] @ (theta[s, t].T if s < t else theta[t, s])
            logits = fields[s] + eta @ phi.T
            odds = np.exp(logits - logits.max(axis=1, keepdims=True))
            every.append(odds / odds.sum(axis=1, keepdims=True))
        return every

    def loss(self, theta, fields, known=None):
        """−log PL per unit of weight; ``known`` are the probabilities, if they were computed before."""
        rows, every = np.arange(self.n), self.probabilities(theta, fields) if known is None else known
        return -sum(self.w @ np.log(P[rows, self.X[:, s]]) for s, P in enumerate(every))

    def penalty(self, theta):
        return sum(self.omega[pair] * np.linalg.norm(theta[pair]) for pair in self.pairs if theta[pair].any())

    def objective(self, theta, fields, alpha):
        return self.loss(theta, fields) + alpha * self.penalty(theta)

    def gradient(self, theta, fields, known=None):
        """Of the loss in every pair and in every field."""
        P = self.probabilities(theta, fields) if known is None else known
        residual = [P[s] @ phi - self.points[s] for s, phi in enumerate(self.scores)]
        weighted = [self.w[:, None] * r for r in residual]
        edges = {(s, t): weighted[s].T @ self.points[t] + self.points[s].T @ weighted[t] for s, t in self.pairs}
        nodes = [self.w @ P[s] - np.bincount(self.X[:, s], self.w, q) for s, q in enumerate(self.levels)]
        return edges, nodes

    def alpha_max(self):
        edges, _ = self.gradient(*self.null())
        return max(np.linalg.norm(edges[pair]) / self.omega[pair] for pair in self.pairs)

    def kkt_residual(self, theta, fields, alpha):
        """The largest violation, of scores that are scaled to a range of 1."""
        edges, nodes = self.gradient(theta, fields)
        worst = max(np.abs(node).max() for node in nodes)
        for pair in self.pairs:
            limit, norm = alpha * self.omega[pair], np.linalg.norm(theta[pair])
            at_zero = np.linalg.norm(edges[pair]) - limit
            violation = np.linalg.norm(edges[pair] + limit * theta[pair] / norm) if norm else at_zero
            worst = max(worst, violation / self.widths[list(pair)].prod())
        return worst

    def gap(self, theta, fields, alpha):
        """F - D at the mixture of the observed categories with their probabilities; the fields must be stationary."""
        edges, _ = self.gradient(theta, fields)
        c = min([1.0, *(alpha * self.omega[pair] / np.linalg.norm(edges[pair]) for pair in self.pairs)])
        rows, dual = np.arange(self.n), 0.0
        for s, P in enumerate(self.probabilities(theta, fields)):
            mixed = c * P
            mixed[rows, self.X[:, s]] += 1.0 - c
            dual -= self.w @ xlogy(mixed, mixed).sum(axis=1)
        return self.objective(theta, fields, alpha) - dual

    def blocks(self, theta):
        """What a person reads: a nominal side has one entry per category, which sum to zero."""
        sides = [phi if phi.shape[1] > 1 else np.ones((1, 1)) for phi in self.scores]
        return {(s, t): sides[s] @ theta[s, t] @ sides[t].T for s, t in self.pairs}

    def standardized(self):
        """Penalty weights that make the unit of a score drop out."""
        return self.widths[None, :] * self.sd[:, None] + self.widths[:, None] * self.sd[None, :]

    def solve(self, alpha, *, tol=1e-10, max_iter=100_000):
        """(theta, fields) at the optimum: accelerated proximal gradient on centered scores, with restarts."""
        centered = type(self).__new__(type(self))
        centered.__dict__ = {**self.__dict__}
        centers = [self.w @ x for x in self.points]
        centered.scores = [phi - c for phi, c in zip(self.scores, centers, strict=True)]
        centered.points = [x - c for x, c in zip(self.points, centers, strict=True)]
        point = momentum = centered.null()
        age, rate = 1.0, 1.0
        for step in range(1, max_iter + 1):
            known = centered.probabilities(*momentum)
            edges, nodes = centered.gradient(*momentum, known)
            before = centered.loss(*momentum, known)
            while True:
                new = _proximal_step(centered, momentum, (edges, nodes), alpha, rate)
                bound = before + _inner(edges, nodes, _difference(new, momentum))
                bound += _inner(*_difference(new, momentum), _difference(new, momentum)) / (2.0 * rate)
                if centered.loss(*new) <= bound + 1e-13 * abs(before):
                    break
                rate /= 2.0
            overshoots = _inner(*_difference(momentum, new), _difference(new, point)) > 0.0
            older, age = (1.0, 1.0) if overshoots else (age, (1.0 + np.sqrt(1.0 + 4.0 * age**2)) / 2.0)
            share = (older - 1.0) / age
            ahead = _difference(new, point)
            momentum = (
                {pair: new[0][pair] + share * ahead[0][pair] for pair in self.pairs},
                [a + share * b for a, b in zip(new[1], ahead[1], strict=True)],
            )
            point = new
            if step % 5 == 0 and centered.kkt_residual(*point, alpha) <= tol:
                break
        theta, fields = point
        return theta, self._uncenter(theta, fields, centers)

    def _uncenter(self, theta, fields, centers):
        """Fields for scores as they are: a shift of the neighbors' scores moves into them."""
        every = []
        for s, phi in enumerate(self.scores):
            shift = np.zeros(phi.shape[1])
            for t in range(self.p):
                if t != s:
                    shift += centers[t] @ (theta[s, t].T if s < t else theta[t, s])
            field = fields[s] - phi @ shift
            every.append(field - field[0])
        return every


class OneNode(Discrete):
    """The regression of one column on all others: the others are taken as they are, their own pairs are forbidden."""

    def __init__(self, node, X, kinds, *, standardize=False, **known):
        super().__init__(X, kinds, **known)
        self.node = node
        beside = self.widths[node] * self.sd if standardize else np.ones(self.p)
        self.omega = np.full((self.p, self.p), np.inf)
        self.omega[node], self.omega[:, node] = beside, beside

    def probabilities(self, theta, fields):
        every = super().probabilities(theta, fields)
        certain = [np.eye(q)[self.X[:, s]] for s, q in enumerate(self.levels)]
        return [every[s] if s == self.node else certain[s] for s in range(self.p)]


def parts(reference, solution):
    """Theta and fields as the slow twin wants them."""
    theta, _ = reference.null()
    for (s, t), block in zip(solution.edge_index.tolist(), solution.network.blocks, strict=True):
        left, right = (
            np.eye(1) if phi.shape[1] == 1 else np.linalg.pinv(phi)
            for phi in (reference.scores[s], reference.scores[t])
        )
        theta[s, t] = left @ block @ right.T
    return theta, solution.network.variables.split(solution.network.category_fields)


def assert_certified(reference, path, *, rounding=1e-9):
    """Recompute value, norms and certificates of all solutions; the bounds must hold and not be loose."""
    for solution in path:
        theta, fields = parts(reference, solution)
        assert solution.converged
        assert solution.objective == pytest.approx(reference.objective(theta, fields, solution.alpha), rel=1e-12)
        for (s, t), value in zip(solution.edge_index.tolist(), solution.edge_values, strict=True):
            assert abs(value) == pytest.approx(np.linalg.norm(theta[s, t]), rel=1e-10)
        residual, gap = (f(theta, fields, solution.alpha) for f in (reference.kkt_residual, reference.gap))
        assert residual <= solution.kkt_residual + 1e-12
        assert -1e-12 <= gap <= solution.duality_gap + 1e-10
        assert solution.duality_gap <= 1.01 * gap + rounding  # not a loose bound either


def _proximal_step(problem, point, gradient, alpha, rate):
    theta, fields = {}, [field - rate * slope for field, slope in zip(point[1], gradient[1], strict=True)]
    for pair in problem.pairs:
        moved = point[0][pair] - rate * gradient[0][pair]
        norm, limit = np.linalg.norm(moved), rate * alpha * problem.omega[pair]
        theta[pair] = moved * (1.0 - limit / norm) if norm > limit else np.zeros_like(moved)
    return theta, [field - field[0] for field in fields]


def _difference(a, b):
    return {pair: a[0][pair] - b[0][pair] for pair in a[0]}, [u - v for u, v in zip(a[1], b[1], strict=True)]


def _inner(edges, nodes, step):
    pairs = sum(np.sum(edges[pair] * step[0][pair]) for pair in edges)
    return pairs + sum(slope @ move for slope, move in zip(nodes, step[1], strict=True))
