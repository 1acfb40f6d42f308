"""Certificates in extended precision (numpy.longdouble), from the returned parameters alone; slow and independent.

A problem is a logistic regression Σ w [log(1+exp η) − y η] + Σ penalty |z| with η = A z. The joint pseudo-likelihood is
the paper's stacked one, a node-wise regression a single block of it. The rows of a block share one intercept, which is
the last column of the block.
"""

import functools
from dataclasses import dataclass
from fractions import Fraction

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
    return -(ones * log_share(ones, zeros) + zeros * log_share(zeros, ones)).sum()


def log_share(share, others):
    """Log of a share, 0 of none, given the sum of the others: the rounding of a share near 1 may exceed an entropy."""
    return np.where(others < 0.5, np.log1p(-np.minimum(others, 0.5)), np.log(np.where(share > 0, share, 1)))


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


# ------------------------------------------------------------------------------------------- columns with categories

RIDGE = 1e-9  # of pairs without a penalty (docs/math.md)
NEGLIGIBLE = 1e-200  # a row with a smaller share of the largest weight counts as absent


@dataclass
class Categories:
    """Columns on a line (scores) or at the corners of a simplex, the joint problem or one regression per column.

    Only columns that vary and categories that occur; arrays are padded to the same number q of categories, and have
    one axis for the column and one for the category. Scores are measured from the smallest one, in units of the range
    of the column, and category k of a nominal column is the unit vector e_k / √2 less its mean: residuals then do not
    depend on the unit or the origin of a score. A point is (theta, field): theta[s, i, t, j] of two coordinates,
    symmetric in the joint problem, and the field of every category.
    """

    codes: np.ndarray  # (n, p) numbers among the categories that occur
    weight: np.ndarray  # (n,)
    place: np.ndarray  # (p, q, c) coordinates of the categories: c = 1 without nominal columns
    real: np.ndarray  # (p, q) which categories are not padding
    penalty: np.ndarray  # (p, p) of ‖theta[s, :, t, :]‖; infinite where forbidden, and on the diagonal
    joint: bool
    modelled: np.ndarray  # (p,) columns that are no covariates, which have no loss
    ridge: np.ndarray  # (p, p) of ‖theta[s, :, t, :]‖² / 2: of all pairs, if one has no penalty

    def __post_init__(self):
        n, p = self.codes.shape
        self.given = np.zeros((n, *self.real.shape), dtype=bool)  # the observed category of every cell
        self.given[np.arange(n)[:, None], np.arange(p), self.codes] = True
        self.points = self.place[np.arange(p), self.codes]  # (n, p, c)
        self.last = (None, None)

    # ------------------------------------------------------------------------------------- sums over rows

    def odds(self, theta, field):
        """log P(k | rest) − log P(observed | rest) of every cell and category; −inf for padding."""
        n, p, c = self.points.shape
        eta = (self.points.reshape(n, -1) @ theta.reshape(p * c, p * c).T).reshape(n, p, c)
        logits = np.einsum("npi,pki->npk", eta, self.place) + field
        odds = logits - logits[self.given].reshape(n, p, 1)
        return np.where(self.real & (self.modelled[:, None] | self.given), odds, -np.inf)

    def misses(self, odds):
        """(loss, chance of every category): of the observed one, what is missing to 1, with a minus sign."""
        others = np.where(self.given, -np.inf, odds)
        top = np.maximum(others.max(axis=2), 0)
        scaled = np.exp(others - top[:, :, None])
        total = scaled.sum(axis=2)
        loss = top + np.log(np.where(top > 0, np.exp(-top), 1) + total)
        loss = np.where(top > 0, loss, np.log1p(total))
        chance = scaled / (np.exp(-top) + total)[:, :, None]
        return loss, np.where(self.given, -chance.sum(axis=2, keepdims=True), chance)

    def at(self, theta, field):
        """(odds, loss, misses) at a point, which must not be changed: the last one is remembered."""
        if self.last[0] is not theta or self.last[1] is not field:
            odds = self.odds(theta, field)
            self.last = theta, field, (odds, *self.misses(odds))
        return self.last[2]

    def flows(self, miss):
        """(p, q, q): the weight that rows of category j give to category k; zero on the diagonal."""
        return np.einsum("npj,npk->pjk", self.weight[:, None, None] * self.given, np.where(self.given, 0, miss))

    def moments(self, miss):
        """Derivative of the loss by theta[s, :, t, :]; in the joint problem either column's loss contributes."""
        n, p, c = self.points.shape
        residual = np.einsum("npk,pki->npi", self.weight[:, None, None] * miss, self.place)
        cross = (residual.reshape(n, -1).T @ self.points.reshape(n, -1)).reshape(p, c, p, c)
        return cross + cross.transpose(2, 3, 0, 1) if self.joint else cross

    def parts(self, columns, pairs):
        """Sums by problem: one number, or one per column."""
        pairs = np.where(np.eye(len(pairs), dtype=bool), 0, pairs)
        if self.joint:
            return np.array([columns.sum() + np.triu(pairs).sum()])
        return (columns + pairs.sum(axis=1))[self.modelled]

    def worst(self, columns, pairs):
        """Maxima by problem."""
        pairs = np.where(np.eye(len(pairs), dtype=bool), 0, pairs)
        each = np.maximum(columns, pairs.max(axis=1, initial=0))
        return np.array([each.max(initial=0)]) if self.joint else each[self.modelled]

    def penalties(self, theta):
        norms = sizes(theta)
        return np.where(norms > 0, np.where(norms > 0, self.penalty, 0) * norms, 0) + self.ridge * norms**2 / 2

    # ------------------------------------------------------------------------------------- what is claimed

    def value(self, theta, field):
        """F, by problem."""
        _, loss, _ = self.at(theta, field)
        return self.parts(self.weight @ loss, self.penalties(theta))

    def null(self):
        """F without edges, by problem."""
        share = np.einsum("n,npk->pk", self.weight, self.given)
        logs = log_share(share, share @ (1 - np.eye(share.shape[1])))
        return self.parts(-(share * logs).sum(axis=1) * self.modelled, np.zeros_like(self.penalty))

    def kkt(self, theta, field):
        """Largest violation of the optimality conditions, by problem."""
        _, _, miss = self.at(theta, field)
        flow, slope, norms = self.flows(miss), self.moments(miss), sizes(theta)
        slope = slope + self.ridge[:, None, :, None] * theta
        fields = np.abs(flow.sum(axis=1) - flow.sum(axis=2)).max(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = theta / np.where(norms > 0, norms, 1)[:, None, :, None]
            limit = np.where(norms > 0, self.penalty, 0)[:, None, :, None]
            moved = sizes(slope + np.where(unit != 0, limit * unit, 0))
            still = np.maximum(sizes(slope) - self.penalty, 0)
        return self.worst(fields, np.where(norms > 0, moved, still))

    def gap(self, theta, field):
        """F minus the dual at a point made of the chances at the best fields, by problem."""
        _, loss, _ = self.at(theta, field)
        odds, least, miss = self.at(theta, self.settled(theta, field))
        kept = self.balanced(self.flows(miss))  # (p, j, k): the share of what rows of j give to k that is kept
        kept = kept[np.arange(len(kept)), self.codes]  # (n, p, k)
        given = np.where(self.given, 0, kept * miss)
        given = np.where(self.given, -given.sum(axis=2, keepdims=True), given)
        slope = self.moments(given)
        size = sizes(slope)
        with np.errstate(divide="ignore", invalid="ignore"):
            shrink = np.where((size > self.penalty) & (self.ridge == 0), self.penalty / size, 1)
        np.fill_diagonal(shrink, 1)
        c = np.full(len(shrink), shrink.min()) if self.joint else shrink.min(axis=1)
        scale = c[:, None] * kept
        pairs = self.penalties(theta) + c[:, None] * (slope * theta).sum(axis=(1, 3))
        over = np.where(self.ridge > 0, np.maximum(c[:, None] * size - self.penalty, 0), 0)
        pairs = pairs + over**2 / (2 * np.where(self.ridge > 0, self.ridge, 1))
        cells = divergence_of(odds, miss, scale, self.given)
        pairs = np.where((self.ridge > 0) | (sizes(theta) > 0), pairs, 0)
        return self.parts(self.weight @ (loss - least) + self.weight @ cells, pairs)

    def below_rounding(self, tol):
        """Whether a penalty is below what rounding may add to a moment of the model without edges, over tol."""
        share = np.einsum("n,npk->pk", self.weight, self.given)
        misplaced = np.where(self.modelled, (share * (share.sum(axis=1, keepdims=True) - share)).sum(axis=1), 0)
        unknown = np.finfo(float).eps / 2 * (misplaced[:, None] + misplaced * self.joint)
        low = (self.penalty < unknown / tol) & (self.ridge == 0)
        return np.array([low.any()]) if self.joint else low.any(axis=1)[self.modelled]

    # ------------------------------------------------------------------------------------- fields

    def stationary(self, theta, field, steps=200):
        """The best fields given theta: weights that come into and go out of every category agree."""
        share = np.einsum("n,npk->pk", self.weight, self.given)
        for _ in range(steps):
            _, loss, miss = self.at(theta, field)
            flow = self.flows(miss)
            into, out = flow.sum(axis=1), flow.sum(axis=2)
            uneven = np.abs(into - out) / np.where(self.real & self.modelled[:, None], np.maximum(into, out), 1)
            worst = np.where(self.real, uneven, 0).max(axis=1)
            if (worst < (len(self.weight) + 16) * EPS).all():
                break
            chance = np.where(self.given, np.exp(-loss)[:, :, None], miss)
            weighed = self.weight[:, None, None] * chance
            step = laplace(np.einsum("npj,npk->pjk", weighed, chance), out - into)
            ratio = np.log(np.where(self.real, share / np.where(self.real, weighed.sum(axis=0), 1), 1))
            step = np.where((worst > 0.5)[:, None], ratio, np.clip(step, -2, 2))
            if (np.abs(step) <= 4 * EPS * np.maximum(np.abs(field), 1)).all():
                break
            field = np.where(self.real, field + step, 0)
        return field

    def settled(self, theta, field):
        """The best fields, also of groups of categories that hardly mix: what crosses between them drowns above.

        Moving a group by δ multiplies what comes in by exp(δ) and what goes out by exp(−δ), if both are small.
        """
        field = self.stationary(theta, field)
        for _ in range(30):
            _, _, miss = self.at(theta, field)
            step = np.zeros_like(field)
            for s, (flow, real) in enumerate(zip(self.flows(miss), self.real, strict=True)):
                among = np.flatnonzero(real)
                for _, _, inside, into, out in cuts(flow[np.ix_(among, among)]):
                    if into > 0 and out > 0 and abs(into - out) > 1e-14 * into:
                        step[s, among[inside]] += np.log(out / into) / 2
            if not step.any():
                break
            field = field + step
        return field

    def balanced(self, flow):
        """(p, q, q): factors ≤ 1 of a flow after which as much comes into every category as goes out."""
        kept = np.ones_like(flow)
        for s, real in enumerate(self.real):
            among = np.flatnonzero(real)
            repaired = repair(flow[s][np.ix_(among, among)])
            kept[s][np.ix_(among, among)] = 0 if repaired is None else repaired
        return kept

    # ------------------------------------------------------------------------------------- a better point

    def improved(self, theta, field, sweeps=300):
        """A point that is at least as good, by accelerated proximal steps in theta with the fields at their best."""
        field = self.stationary(theta, field)
        point, ahead = theta, theta
        best, value = (theta, field), self.value(theta, field)
        age, rate = LONG(1), LONG(4)
        for _ in range(sweeps):
            field = self.stationary(ahead, field, steps=20)
            _, loss, miss = self.at(ahead, field)
            slope, here = self.moments(miss), (self.weight @ loss).sum()
            for _ in range(60):
                new = self.shrunken(ahead - rate * slope, rate)
                move = new - ahead
                bound = here + self.inner(slope, move) + self.inner(move, move) / (2 * rate)
                new_field = self.stationary(new, field, steps=20)
                if (self.weight @ self.at(new, new_field)[1]).sum() <= bound + 1e-18 * here:
                    break
                rate = rate / 2
            restart = self.inner(ahead - new, new - point) > 0
            older, age = (LONG(1), LONG(1)) if restart else (age, (1 + np.sqrt(1 + 4 * age**2)) / 2)
            ahead = new + (older - 1) / age * (new - point)
            still = np.abs(new - point).max() <= 1e-17 * np.abs(new).max(initial=1e-300)
            point, field, rate = new, new_field, rate * LONG(1.1)
            found = self.value(point, field)
            if found.sum() < value.sum():
                best, value = (point, field), found
            if still:
                break
        return best

    def inner(self, a, b):
        """Inner product, each parameter once."""
        return (a * b).sum() / (2 if self.joint else 1)

    def shrunken(self, theta, rate):
        norms = sizes(theta)
        with np.errstate(divide="ignore", invalid="ignore"):
            factor = np.where(norms > rate * self.penalty, 1 - rate * self.penalty / norms, 0)
        np.fill_diagonal(factor, 0)
        factor = factor / (1 + rate * self.ridge)
        return theta * factor[:, None, :, None]


def sizes(theta):
    """Frobenius norm of every pair."""
    top = np.abs(theta).max(axis=(1, 3), initial=0)
    safe = np.where(top > 0, top, 1)
    return top * np.sqrt(((theta / safe[:, None, :, None]) ** 2).sum(axis=(1, 3)))


def divergence_of(odds, miss, scale, given):
    """KL(π ‖ P) per cell for π_k = scale_k P_k of the categories that were not observed, the rest for the other."""
    others = np.where(given, 0, miss)
    taken = (1 - scale) * others  # what comes back to the observed category
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(others * scale > 0, scale * others * np.log(np.where(scale > 0, scale, 1)), 0).sum(axis=2)
        ratio = np.where(given, 0, (1 - scale) * np.exp(np.minimum(odds, 11000))).sum(axis=2)  # taken / P(observed)
    stays = 1 - (scale * others).sum(axis=2)
    total = logs + stays * np.log1p(ratio)
    # The two terms cancel where the scale is close to 1; there Σ taken² / P bounds the divergence, up to a factor of 2.
    with np.errstate(over="ignore"):
        bound = taken.sum(axis=2) * ratio + ((1 - scale) ** 2 * others).sum(axis=2)
    return np.where(np.abs(total) < 1e-16 * others.sum(axis=2), np.minimum(np.abs(total), bound), np.maximum(total, 0))


def laplace(shared, push):
    """x with Σ_k shared_jk (x_j − x_k) = push_j, for every column; elimination without a subtraction, x_0 = 0."""
    p, q = push.shape
    shared, push = shared.copy(), push.copy()
    shared[:, np.arange(q), np.arange(q)] = 0
    sums = []
    for k in range(q - 1, 0, -1):
        total = shared[:, k, :k].sum(axis=1)
        safe = np.where(total > 0, total, 1)
        sums.append(safe)
        part = shared[:, :k, k] / safe[:, None]
        push[:, :k] += part * push[:, k : k + 1]
        shared[:, :k, :k] += part[:, :, None] * shared[:, k, None, :k]
        shared[:, np.arange(k), np.arange(k)] = 0
    x = np.zeros((p, q), dtype=LONG)
    for k, total in zip(range(1, q), reversed(sums), strict=True):
        x[:, k] = (push[:, k] + (shared[:, k, :k] * x[:, :k]).sum(axis=1)) / total
    return x


def cuts(flow):
    """(j, k, which categories are behind k, weight in, weight out) of every edge of the strongest spanning tree."""
    q, tree, weak = len(flow), [], np.minimum(flow, flow.T)
    best, source = weak[0].copy(), np.zeros(len(flow), dtype=int)  # the strongest edge from what is reached
    best[0] = -1
    for _ in range(q - 1):  # Prim
        k = int(best.argmax())
        tree.append((int(source[k]), k))
        closer = (weak[k] > best) & (best >= 0)
        best[closer], source[closer] = weak[k][closer], k
        best[k] = -1
    inside = np.eye(q, dtype=bool)  # (k, l): whether l is behind k
    for j, k in reversed(tree):  # edges come after the one that reached their start
        inside[j] |= inside[k]
    out = np.where(inside, 0, inside.astype(LONG) @ flow).sum(axis=1)
    into = np.where(inside, (~inside).astype(LONG) @ flow, 0).sum(axis=1)
    for j, k in tree:
        yield j, k, inside[k], into[k], out[k]


def repair(flow):
    """Factors ≤ 1 that make a flow a circulation, by what is too much across each edge of the tree; or None."""
    kept = np.ones_like(flow)
    for j, k, _, into, out in cuts(flow):
        source = (j, k) if into > out else (k, j)
        if into != out:
            if abs(into - out) > flow[source]:
                return None
            kept[source] -= abs(into - out) / flow[source]
    return kept


def to_long(number):
    """A fraction, rounded once."""
    high = float(number)
    return LONG(high) + LONG(float(number - Fraction(high)))


def categories(codes, scores, fields, blocks, alpha, *, joint, weight=None, omega=None, covariate=None):
    """(Categories, theta, field) of a table of category numbers, all fields, and the blocks {(s, t): B} of a network.

    ``scores`` has None for a nominal column. ``blocks`` has a pair in both orders, with a row or column per category of
    a nominal column and one of any other; in the joint problem one order is the transpose of the other. ``omega`` is
    None, "standardized", or a matrix of penalty weights for scores as they were given. ``covariate`` tells which
    columns are covariates.
    """
    codes, w = np.asarray(codes), shares(weight, len(codes))
    given = w if weight is None else np.asarray(weight, dtype=float)
    present = given > NEGLIGIBLE * given.max()  # in double precision, as ties are decided there
    codes, w = codes[present], w[present] / w[present].sum()
    seen = [np.unique(column) for column in codes.T]
    keep = [s for s, found in enumerate(seen) if len(found) > 1]
    p, q = len(keep), max((len(seen[s]) for s in keep), default=1)
    numbers = np.zeros((len(codes), p), dtype=int)
    sides = [Side.of(scores[s], seen[s]) for s in keep]
    c = max((side.place.shape[1] for side in sides), default=1)
    place, real = np.zeros((p, q, c), dtype=LONG), np.zeros((p, q), dtype=bool)
    field, theta = np.zeros((p, q), dtype=LONG), np.zeros((p, c, p, c), dtype=LONG)
    for i, (s, side) in enumerate(zip(keep, sides, strict=True)):
        m = len(seen[s])
        numbers[:, i], real[i, :m] = np.searchsorted(seen[s], codes[:, s]), True
        place[i, :m, : side.place.shape[1]] = side.place
        around = [(blocks.get((s, t)), other) for t, other in zip(keep, sides, strict=True)]
        field[i, :m] = side.add_up(fields[s], around)
        for j, (t, other) in enumerate(zip(keep, sides, strict=True)):
            if (s, t) in blocks:
                part = side.centered(other.centered(np.asarray(blocks[s, t], dtype=LONG).T).T)
                theta[i, : part.shape[0], j, : part.shape[1]] = part * side.unit * other.unit
    points = place[np.arange(p), numbers]
    sd = np.sqrt(np.einsum("n,npk->p", w, (points - np.einsum("n,npk->pk", w, points)) ** 2))
    if omega is None or isinstance(omega, str):
        every = np.ones((p, p), dtype=LONG) if omega is None else (sd[:, None] * joint + sd)
    else:
        every = np.asarray(omega, dtype=LONG)[np.ix_(keep, keep)]
    if not isinstance(omega, str):
        width = np.array([side.width for side in sides], dtype=LONG)
        every = every / (width[:, None] * width)
    given = np.zeros(p, dtype=bool) if covariate is None else np.asarray(covariate)[keep]
    every = np.where(given[:, None] != given, 0, np.where(given[:, None] & given, np.inf, every))
    if not joint:
        every[given] = np.inf
    penalty = np.where(np.isfinite(every) & ~np.eye(p, dtype=bool), LONG(alpha) * every, np.inf)
    ridge = np.where(np.isfinite(penalty) & (penalty == 0).any(), LONG(RIDGE), LONG(0))
    return Categories(numbers, w, place, real, penalty, joint, ~given, ridge), theta, field


@dataclass
class Side:
    """The categories of a column that occur, and what a block over them looks like in coordinates."""

    seen: np.ndarray
    scores: list | None  # exact, None if nominal
    place: np.ndarray
    width: np.longdouble  # range of all scores
    unit: np.longdouble  # coordinates of a block are so many times its entries

    @classmethod
    def of(cls, scores, seen):
        return cls.cached(None if scores is None else tuple(map(float, scores)), tuple(seen.tolist()))

    @classmethod
    @functools.lru_cache(maxsize=64)
    def cached(cls, scores, seen):
        seen = np.array(seen)
        if scores is None:
            m, root = len(seen), np.sqrt(LONG(2))
            return cls(seen, None, (np.eye(m, dtype=LONG) - LONG(1) / m) / root, LONG(1), root)
        exact = [Fraction(value) for value in scores]
        width = to_long(max(exact) - min(exact))
        chosen = [exact[k] for k in seen]
        place = np.array([[to_long(value - min(chosen)) / width] for value in chosen])
        return cls(seen, chosen, place, width, width)

    @property
    def above(self):
        """Scores from the smallest."""
        return [value - min(self.scores) for value in self.scores]

    def centered(self, part):
        """Rows of a block, those of a nominal column with mean zero."""
        if self.scores is not None:
            return part
        return part[self.seen] - part[self.seen].mean(axis=0)

    def add_up(self, fields, neighbors):
        """Fields of the categories, for neighbors with their smallest score, or with the mean over their categories.

        Exact where scores are far from zero: fields then cancel products that are larger by many orders of magnitude.
        """
        own, mean = [Fraction(float(fields[k])) for k in self.seen], LONG(0)
        for block, other in neighbors:
            if block is None:
                continue
            rows = np.asarray(block)[self.seen] if self.scores is None else np.asarray(block)
            if other.scores is None:
                mean = mean + rows[:, other.seen].astype(LONG).mean(axis=1)
            elif min(other.scores) != 0:
                part = [Fraction(float(row[0])) * min(other.scores) for row in rows]
                factors = part if self.scores is None else [part[0] * value for value in self.above]
                own = [a + b for a, b in zip(own, factors, strict=True)]
        found = np.array([to_long(value - own[0]) for value in own])
        if self.scores is None:
            return found + mean
        return found + mean * np.array([to_long(value) for value in self.above])
