"""Certificates in extended precision (numpy.longdouble), from the returned parameters alone; slow and independent.

A problem is a logistic regression Σ w [log(1+exp η) − y η] + Σ penalty |z| with η = A z. The joint pseudo-likelihood is
the paper's stacked one, a node-wise regression a single block of it. The rows of a block share one intercept, which is
the last column of the block.
"""

from dataclasses import dataclass

import numpy as np

LONG = np.longdouble
EPS = np.finfo(LONG).eps
assert EPS < 1e-18, "this platform has no extended precision; nothing here would be a check"


def shares(weight, n):
    """Normalized weights."""
    raw = np.ones(n, dtype=LONG) if weight is None else np.asarray(weight, dtype=LONG)
    raw = raw / raw.max()
    return raw / raw.sum()


def varying(X, w):
    """Columns that are not constant over the rows of positive weight."""
    rows = X[w > 0]
    return np.flatnonzero((rows != rows[0]).any(axis=0))


@dataclass
class Regression:
    """Rows of design, answers and weights; penalties of the coefficients (0: free); the block of every row."""

    design: np.ndarray
    answer: np.ndarray
    weight: np.ndarray
    penalty: np.ndarray
    block: np.ndarray

    def margin(self, z):
        return (2 * self.answer - 1) * (self.design @ z)

    def value(self, z):
        used = z != 0
        return (self.weight * softplus(-self.margin(z))).sum() + (self.penalty[used] * np.abs(z[used])).sum()

    def residual(self, z):
        return (1 - 2 * self.answer) / (1 + np.exp(self.margin(z)))

    def null(self):
        """F of one block without edges."""
        return entropy(self.weight @ self.answer, self.weight @ (1 - self.answer))

    def kkt(self, z):
        g = self.design.T @ (self.weight * self.residual(z))
        with np.errstate(invalid="ignore"):
            moved = np.abs(g + self.penalty * np.sign(z))
        return np.where(z != 0, moved, np.maximum(np.abs(g) - self.penalty, 0)).max(initial=0)

    def gap(self, z):
        """F(z) minus the dual at the balanced, scaled residuals; needs every coefficient but intercepts penalized."""
        a = self.residual(z)
        for block in np.unique(self.block):
            up, down = (self.block == block) & (a > 0), (self.block == block) & (a < 0)
            above, below = (self.weight * a)[up].sum(), -(self.weight * a)[down].sum()
            if above == 0 or below == 0:
                a[up | down] = 0
            elif above > below:
                a[up] *= below / above
            else:
                a[down] *= above / below
        moments = self.design.T @ (self.weight * a)
        edge = self.penalty > 0
        over = edge & (np.abs(moments) > self.penalty)
        c = (self.penalty[over] / np.abs(moments[over])).min(initial=LONG(1))
        used = edge & (z != 0)
        pairs = (self.penalty * np.abs(z) + c * moments * z)[used].sum()
        return pairs + (self.weight * divergence(self.answer, c * a, self.margin(z))).sum()

    def improved(self, z, sweeps=60):
        """A point that is at least as good, by coordinate descent: a value below F(z) − gap refutes the gap."""
        z, best = z.copy(), z.copy()
        columns = [np.flatnonzero(self.design[:, j]) for j in range(len(z))]
        for _ in range(sweeps):
            for j, rows in enumerate(columns):
                if len(rows) and np.isfinite(self.penalty[j]):
                    z[j] = self._along(z, j, rows)
            if self.value(z) >= self.value(best) * (1 - 1e-17):
                break
            best = z.copy()
        return best if self.value(best) < self.value(z) else z

    def _along(self, z, j, rows):
        """The best z_j with the rest fixed, by bisection of the derivative."""
        sign, w = 2 * self.answer[rows] - 1, self.weight[rows]
        rest = self.design[rows] @ z - z[j]  # the entries of the column are ones

        def slope(value):
            return -(w * sign / (1 + np.exp(sign * (rest + value)))).sum()

        at_zero = slope(LONG(0))
        if abs(at_zero) <= self.penalty[j]:
            return LONG(0)
        shift = self.penalty[j] * (-1 if at_zero > 0 else 1)
        low, high = (LONG(0), LONG(1)) if at_zero < 0 else (LONG(-1), LONG(0))
        while slope(high) + shift < 0 and high < 4096:
            high *= 2
        while slope(low) + shift > 0 and low > -4096:
            low *= 2
        for _ in range(90):
            middle = (low + high) / 2
            if slope(middle) + shift > 0:
                high = middle
            else:
                low = middle
        return (low + high) / 2


def entropy(ones, zeros):
    """Of yes/no variables with these shares, summed."""
    return -(ones * np.log(ones) + zeros * np.log(zeros)).sum()


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def divergence(y, a, margin):
    """KL(y + a ‖ σ) per row, q the probability of the answer that was not given."""
    q = np.abs(a)
    with np.errstate(divide="ignore", invalid="ignore"):
        other = np.where(q > 0, q * (np.log(q) + softplus(margin)), 0)
        given = (1 - q) * (np.log1p(-q) + softplus(-margin))
    total = np.where(q < 1, other + given, other)
    # Both terms cancel near q = e; there (q − e)² / 2v to leading order, twice that as a bound.
    e, rest = 1 / (1 + np.exp(margin)), 1 / (1 + np.exp(-margin))
    bound = (q - e) ** 2 / e / rest
    return np.where(np.abs(total) < 1e-16 * e, np.minimum(np.abs(total), bound), np.maximum(total, 0))


@dataclass
class Joint:
    """The joint problem over the columns that vary, as matrices; ``regression`` stacks it."""

    table: np.ndarray
    weight: np.ndarray
    penalty: np.ndarray  # α ω, infinite where forbidden

    def margin(self, theta, field):
        return (2 * self.table - 1) * (self.table @ theta + field)

    def value(self, theta, field):
        used = np.triu(theta, 1) != 0
        loss = (self.weight[:, None] * softplus(-self.margin(theta, field))).sum()
        return loss + (self.penalty[used] * np.abs(theta[used])).sum()

    def kkt(self, theta, field):
        cells = self.weight[:, None] * (1 - 2 * self.table) / (1 + np.exp(self.margin(theta, field)))
        g = cells.T @ self.table + self.table.T @ cells
        with np.errstate(invalid="ignore"):
            moved = np.abs(g + self.penalty * np.sign(theta))
        violation = np.where(theta != 0, moved, np.maximum(np.abs(g) - self.penalty, 0))
        return max(np.triu(violation, 1).max(initial=0), np.abs(cells.sum(axis=0)).max(initial=0))

    def gap(self, theta, field):
        """F minus the dual at the balanced, scaled residuals; infinite if a pair is free."""
        if (self.penalty[np.triu_indices(len(field), 1)] == 0).any():
            return LONG(np.inf)
        margin = self.margin(theta, field)
        a = (1 - 2 * self.table) / (1 + np.exp(margin))
        above = (self.weight[:, None] * np.maximum(a, 0)).sum(axis=0)
        below = (self.weight[:, None] * np.maximum(-a, 0)).sum(axis=0)
        small = np.minimum(above, below)
        with np.errstate(invalid="ignore", divide="ignore"):
            a *= np.where(a > 0, np.where(above > 0, small / above, 0), np.where(below > 0, small / below, 0))
        cells = self.weight[:, None] * a
        moments = cells.T @ self.table + self.table.T @ cells
        pairs = np.triu(np.isfinite(self.penalty), 1)
        over = pairs & (np.abs(moments) > self.penalty)
        c = (self.penalty[over] / np.abs(moments[over])).min(initial=LONG(1))
        used = pairs & (theta != 0)
        terms = self.penalty[used] * np.abs(theta[used]) + c * moments[used] * theta[used]
        return terms.sum() + (self.weight[:, None] * divergence(self.table, c * a, margin)).sum()

    def null(self):
        """F without edges."""
        return entropy(self.weight @ self.table, self.weight @ (1 - self.table))

    def regression(self, theta, field):
        """(Regression, z) of the same problem."""
        n, p = self.table.shape
        pairs = [(s, t) for s in range(p) for t in range(s + 1, p) if np.isfinite(self.penalty[s, t])]
        design = np.zeros((n * p, len(pairs) + p), dtype=LONG)
        for s in range(p):
            rows = slice(n * s, n * (s + 1))
            design[rows, len(pairs) + s] = 1
            for j, pair in enumerate(pairs):
                if s in pair:
                    design[rows, j] = self.table[:, pair[1] if s == pair[0] else pair[0]]
        penalty = np.r_[[self.penalty[pair] for pair in pairs], np.zeros(p)].astype(LONG)
        z = np.r_[[theta[pair] for pair in pairs], field].astype(LONG)
        answer, weight = self.table.T.ravel(), np.tile(self.weight, p)
        return Regression(design, answer, weight, penalty, np.repeat(np.arange(p), n)), z


def joint_matrices(X, couplings, fields, alpha, *, weight=None, omega=None):
    """(Joint, theta, field) over the columns that vary."""
    X = np.asarray(X, dtype=LONG)
    w = shares(weight, len(X))
    keep = varying(X, w)
    weights = np.ones((X.shape[1],) * 2, dtype=LONG) if omega is None else np.asarray(omega, dtype=LONG)
    some = np.ix_(keep, keep)
    problem = Joint(X[:, keep], w, np.where(np.isfinite(weights[some]), LONG(alpha) * weights[some], np.inf))
    return problem, np.asarray(couplings, dtype=LONG)[some], np.asarray(fields, dtype=LONG)[keep]


def joint(X, couplings, fields, alpha, *, weight=None, omega=None):
    """(Regression, z) of the joint problem over the columns that vary."""
    problem, theta, field = joint_matrices(X, couplings, fields, alpha, weight=weight, omega=omega)
    return problem.regression(theta, field)


def node(X, s, coefficients, field, alpha, *, weight=None, omega=None):
    """(regression, z) of the logistic lasso of column s on the other columns that vary."""
    X = np.asarray(X, dtype=LONG)
    w = shares(weight, len(X))
    others = [t for t in varying(X, w) if t != s]
    design = np.column_stack([X[:, others], np.ones(len(X), dtype=LONG)])
    weights = np.ones(len(others), dtype=LONG) if omega is None else np.asarray(omega, dtype=LONG)[others]
    z = np.r_[np.asarray(coefficients)[others], field].astype(LONG)
    return Regression(design, X[:, s], w, np.r_[LONG(alpha) * weights, 0].astype(LONG), np.zeros(len(X))), z


@dataclass
class Likelihood:
    """The exact problem over all states of the columns that vary; statistics are means, then pairs."""

    features: np.ndarray  # (states, statistics)
    empirical: np.ndarray
    penalty: np.ndarray
    n_nodes: int

    def log_probabilities(self, z):
        energy = self.features @ z
        return energy - self.log_partition(energy)

    @staticmethod
    def log_partition(energy):
        top = energy.argmax()
        terms = np.exp(energy - energy[top])
        terms[top] = 0
        return energy[top] + np.log1p(terms.sum())

    def value(self, z):
        used, energy = z != 0, self.features @ z
        return (
            self.log_partition(energy) - (self.empirical * energy).sum() + (self.penalty[used] * np.abs(z[used])).sum()
        )

    def null(self):
        """F without edges."""
        ones = self.features[:, : self.n_nodes]
        return entropy(self.empirical @ ones, self.empirical @ (1 - ones))

    def kkt(self, z):
        g = self.features.T @ (np.exp(self.log_probabilities(z)) - self.empirical)
        with np.errstate(invalid="ignore"):
            moved = np.abs(g + self.penalty * np.sign(z))
        return np.where(z != 0, moved, np.maximum(np.abs(g) - self.penalty, 0)).max(initial=0)

    def gap(self, z):
        """KL(q ‖ P) + penalties, q a mixture of table and model whose means were matched by flipping single bits."""
        log_p = self.log_probabilities(z)
        p = np.exp(log_p)
        matched = p.copy()
        states = np.arange(len(p))
        for s in range(self.n_nodes):
            one = self.features[:, s] == 1
            excess = (
                (p[one].sum() - self.empirical[one].sum())
                if p[one].sum() < 0.5
                else (self.empirical[~one].sum() - p[~one].sum())
            )
            source = one if excess > 0 else ~one
            moved = p * source * (abs(excess) / p[source].sum())
            matched -= moved
            matched[states ^ (1 << s)] += moved
        if (matched < 0).any():
            return LONG(np.inf)
        edge = self.penalty > 0
        moments = self.features.T @ (matched - self.empirical)
        over = edge & (np.abs(moments) > self.penalty)
        c = (self.penalty[over] / np.abs(moments[over])).min(initial=LONG(1))
        q = (1 - c) * self.empirical + c * matched
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(q > 0, q * (np.log(q) - log_p), 0) - (q - p)
            close = np.abs(q - p) < 1e-6 * p
        terms[close] = ((q - p) ** 2 / p)[close] / 2
        used = edge & (z != 0)
        return np.maximum(terms, 0).sum() + (self.penalty * np.abs(z) + c * moments * z)[used].sum()

    def improved(self, z, sweeps=40):
        """A point that is at least as good, by damped coordinate steps."""
        z = z.copy()
        for _ in range(sweeps):
            before = self.value(z)
            for j in range(len(z)):
                if not np.isfinite(self.penalty[j]):
                    continue
                p = np.exp(self.log_probabilities(z))
                mean = (p * self.features[:, j]).sum()
                g, h = mean - (self.empirical * self.features[:, j]).sum(), max(mean * (1 - mean), LONG(1e-300))
                target = z[j] - g / h
                target = np.sign(target) * max(abs(target) - self.penalty[j] / h, LONG(0))
                step, here = target - z[j], self.value(z)
                for _ in range(12):
                    trial = z.copy()
                    trial[j] += step
                    if self.value(trial) <= here:
                        z = trial
                        break
                    step /= 4
            if self.value(z) >= before * (1 - 1e-17):
                break
        return z


def exact(X, couplings, fields, alpha, *, weight=None, omega=None):
    """(likelihood, z) over the columns that vary, the rarer answer of each coded as 1: see docs/math.md, units."""
    X = np.asarray(X)
    w = shares(weight, len(X))
    keep = varying(X, w)
    k = len(keep)
    flip = (w @ X[:, keep] > 0.5).astype(int)
    bits = (np.arange(1 << k)[:, None] >> np.arange(k)) & 1
    weights = np.ones((X.shape[1],) * 2, dtype=LONG) if omega is None else np.asarray(omega, dtype=LONG)
    pairs = [(i, j) for i in range(k) for j in range(i + 1, k)]
    features = np.column_stack([bits, *(bits[:, i] * bits[:, j] for i, j in pairs)]).astype(LONG)
    empirical = np.zeros(1 << k, dtype=LONG)
    np.add.at(empirical, (X[:, keep].astype(int) ^ flip) @ (1 << np.arange(k)), w)
    penalty = np.r_[np.zeros(k), [LONG(alpha) * weights[keep[i], keep[j]] for i, j in pairs]].astype(LONG)
    inner, sign = np.asarray(couplings, dtype=LONG)[np.ix_(keep, keep)], 1 - 2 * flip
    field = sign * (np.asarray(fields, dtype=LONG)[keep] + inner @ flip)
    z = np.r_[field, [sign[i] * sign[j] * inner[i, j] for i, j in pairs]].astype(LONG)
    return Likelihood(features, empirical, penalty, k), z
