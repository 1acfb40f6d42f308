"""Slow twins that are obviously right, independent of the package: naive loops, a solver on the stacked design."""

import itertools

import numpy as np


def brute_force_loss(X, couplings, fields, sample_weight=None):
    """Minus the weighted mean log pseudo-likelihood per row, cell by cell."""
    n, p = np.shape(X)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    total = 0.0
    for i in range(n):
        for s in range(p):
            eta = fields[s] + sum(couplings[s][t] * X[i][t] for t in range(p) if t != s)
            total += weight[i] / weight.sum() * (np.logaddexp(0.0, eta) - X[i][s] * eta)
    return total


def brute_force_gradient(X, couplings, fields, sample_weight=None):
    """(g_st, g_ss) of the loss: g_st = Σ w (r_s x_t + r_t x_s), g_ss = Σ w r_s."""
    n, p = np.shape(X)
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    edge, node = np.zeros((p, p)), np.zeros(p)
    for i in range(n):
        eta = [fields[s] + sum(couplings[s][t] * X[i][t] for t in range(p) if t != s) for s in range(p)]
        residual = [np.exp(-np.logaddexp(0.0, -eta[s])) - X[i][s] for s in range(p)]
        for s in range(p):
            node[s] += weight[i] / weight.sum() * residual[s]
            for t in range(p):
                if t != s:
                    edge[s, t] += weight[i] / weight.sum() * (residual[s] * X[i][t] + residual[t] * X[i][s])
    return edge, node


def stack(X, pairs):
    """The paper's conversion to one logistic regression: a block of rows per node, columns of pairs, then fields."""
    n, p = X.shape
    design = np.zeros((n * p, len(pairs) + p))
    for s in range(p):
        rows = slice(n * s, n * (s + 1))
        design[rows, len(pairs) + s] = 1.0
        for j, (u, v) in enumerate(pairs):
            if s in (u, v):
                design[rows, j] = X[:, v if s == u else u]
    return design, X.T.ravel()


def minimize_quadratic(H, b, z, penalty, tol):
    """Coordinate descent for ½ dᵀHd + bᵀd + Σ penalty |z + d|; return z + d."""
    new, slope = z.copy(), b.copy()  # slope = b + H (new − z)
    for _ in range(20000):
        moved = 0.0
        for j in range(len(z)):
            if H[j, j] <= 0.0:
                continue
            target = new[j] - slope[j] / H[j, j]
            target = np.sign(target) * max(abs(target) - penalty[j] / H[j, j], 0.0)
            change = target - new[j]
            if change:
                slope += H[:, j] * change
                new[j] = target
                moved = max(moved, abs(change) * H[j, j])
        if moved <= tol:
            break
    return new


def reference_solution(X, alpha, *, sample_weight=None, penalty_weights=None, tol=1e-11):
    """(couplings, fields) at the optimum, by proximal Newton; refuses to return anything less exact than ``tol``.

    ``penalty_weights`` is None or a matrix. A constant column has zero couplings and the field logit((n₁+½)/(N+1)).
    """
    X = np.asarray(X, dtype=float)
    p = X.shape[1]
    raw = np.ones(len(X)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    omega = np.ones((p, p)) if penalty_weights is None else np.asarray(penalty_weights, dtype=float)
    ones = raw @ X
    couplings, fields = np.zeros((p, p)), np.log((ones + 0.5) / (raw.sum() - ones + 0.5))
    keep = [s for s in range(p) if np.ptp(X[raw > 0, s])]
    pairs = [(a, b) for b in range(len(keep)) for a in range(b) if np.isfinite(omega[keep[a], keep[b]])]
    A, y = stack(X[:, keep], pairs)
    weight = np.tile(raw / raw.sum(), len(keep))
    penalty = np.r_[[alpha * omega[keep[a], keep[b]] for a, b in pairs], np.zeros(len(keep))]
    z = proximal_newton(A, y, weight, penalty, tol)
    for (a, b), theta in zip(pairs, z, strict=False):
        couplings[keep[a], keep[b]] = couplings[keep[b], keep[a]] = theta
    fields[keep] = z[len(pairs) :]
    return couplings, fields


def proximal_newton(A, y, weight, penalty, tol):
    def objective(z):
        eta = A @ z
        return weight @ (np.logaddexp(0.0, eta) - y * eta) + penalty @ np.abs(z)

    z = np.zeros(A.shape[1])
    for _ in range(200):
        sigma = np.exp(-np.logaddexp(0.0, -(A @ z)))
        g = A.T @ (weight * (sigma - y))
        violation = np.where(z != 0, np.abs(g + penalty * np.sign(z)), np.maximum(np.abs(g) - penalty, 0.0))
        residual = violation.max(initial=0.0)
        if residual <= tol:
            return z
        H = A.T @ (A * (weight * sigma * (1.0 - sigma))[:, None]) + 1e-4 * min(residual, 1.0) * np.eye(len(z))
        step = minimize_quadratic(H, g, z, penalty, 1e-3 * min(tol, residual)) - z
        length, before = 1.0, objective(z)
        while length > 1e-10 and objective(z + length * step) > before + 1e-14 * (1.0 + before):
            length *= 0.5
        z = z + length * step
    raise AssertionError(f"the reference solver stopped at a KKT residual of {residual:.1e}")


# ------------------------------------------------------------------------------------------- Gibbs sampling

_MASK = (1 << 64) - 1


class Xoshiro:
    """xoshiro256++ with Python's integers, as its authors print it."""

    def __init__(self, words):
        self.words = [int(word) for word in words]

    def next(self):
        s = self.words
        result = (self._rotate((s[0] + s[3]) & _MASK, 23) + s[0]) & _MASK
        t = (s[1] << 17) & _MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = self._rotate(s[3], 45)
        return result

    def uniform(self):
        return (self.next() >> 11) / 2.0**53

    @staticmethod
    def _rotate(x, k):
        return ((x << k) | (x >> (64 - k))) & _MASK


def gibbs_chain(couplings, fields, n_rows, *, burn_in, thin, words, start=None):
    """Rows of one chain, node by node; consumes the same random numbers as the sampler of the package."""
    p, generator = len(fields), Xoshiro(words)
    x = [generator.next() >> 63 for _ in range(p)]  # coins are flipped even where a start is given
    x = x if start is None else [int(value) for value in start]
    rows = []
    for sweep in range(burn_in + n_rows * thin):
        for s in range(p):
            eta = fields[s] + sum(couplings[s][t] * x[t] for t in range(p) if t != s)
            x[s] = int(generator.uniform() < np.exp(-np.logaddexp(0.0, -eta)))
        if sweep >= burn_in and (sweep - burn_in + 1) % thin == 0:
            rows.append(list(x))
    return np.array(rows, dtype=np.uint8)


def gibbs_cells(couplings, fields, row, cells, n_sweeps, words):
    """One row after sweeps over some of its cells; same random numbers."""
    generator, x = Xoshiro(words), [int(value) for value in row]
    for _ in range(n_sweeps):
        for s in cells:
            eta = fields[s] + sum(couplings[s][t] * x[t] for t in range(len(x)) if t != s)
            x[s] = int(generator.uniform() < np.exp(-np.logaddexp(0.0, -eta)))
    return np.array(x, dtype=np.uint8)


def annealed_chain(couplings, fields, base, row, betas, words):
    """One row after a sweep at every β but the first, and Σ (β_{k+1} − β_k) (b − a)(x_k); same random numbers."""
    generator, x, total = Xoshiro(words), np.array(row, dtype=float), 0.0
    for before, beta in itertools.pairwise(betas):
        total += (beta - before) * (x @ (fields - base) + 0.5 * x @ couplings @ x)
        for s in range(len(x)):
            eta = (1.0 - beta) * base[s] + beta * (fields[s] + couplings[s] @ x)
            x[s] = generator.uniform() < np.exp(-np.logaddexp(0.0, -eta))
    return x.astype(np.uint8), total


def nodewise_solution(X, alpha, *, sample_weight=None, standardize=False, tol=1e-11):
    """Row s: the logistic lasso of column s on the others at ``alpha`` (one value, or one per node).

    The intercept is on the diagonal; every column must vary.
    """
    X = np.asarray(X, dtype=float)
    n, p = X.shape
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    weight = weight / weight.sum()
    mean = weight @ X
    omega = np.sqrt(mean * (1.0 - mean)) if standardize else np.ones(p)
    rows = []
    for s, strength in enumerate(np.broadcast_to(alpha, p)):
        design, penalty = X.copy(), strength * omega
        design[:, s], penalty[s] = 1.0, 0.0  # the intercept takes the column's own place
        rows.append(proximal_newton(design, X[:, s], weight, penalty, tol))
    return np.array(rows)


def nodewise_violations(X, coefficients, fields, alpha, *, sample_weight=None, omega=None):
    """Per node, the largest violation of its optimality conditions, straight from the definition."""
    X, B = np.asarray(X, dtype=float), np.asarray(coefficients, dtype=float)
    n, p = X.shape
    weight = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    weight, omega = weight / weight.sum(), np.ones(p) if omega is None else omega
    worst = []
    for s, strength in enumerate(np.broadcast_to(alpha, p)):
        eta = fields[s] + X @ B[s]
        residual = weight * (np.exp(-np.logaddexp(0.0, -eta)) - X[:, s])
        violation = [abs(residual.sum())]
        for t in range(p):
            if t != s:
                g, limit = residual @ X[:, t], strength * omega[t]
                violation.append(abs(g + limit * np.sign(B[s, t])) if B[s, t] else max(abs(g) - limit, 0.0))
        worst.append(max(violation))
    return np.array(worst)


def logistic_lasso(design, y, penalty, *, weight=None, intercept=False, sweeps=20000, tol=1e-13):
    """(b, b0) of Σ w [log(1+exp η) − y η] + Σ penalty |b| by majorized cyclic descent: one column at a time."""
    A = np.asarray(design, dtype=float)
    weight = np.full(len(A), 1.0 / len(A)) if weight is None else np.asarray(weight, dtype=float) / np.sum(weight)
    if intercept:
        A, penalty = np.column_stack([A, np.ones(len(A))]), np.r_[penalty, 0.0]
    b, eta = np.zeros(A.shape[1]), np.zeros(len(A))
    bound = 0.25 * weight @ A**2  # a logistic cell has curvature 1/4 at most
    for _ in range(sweeps):
        moved = 0.0
        for j in range(len(b)):
            slope = A[:, j] @ (weight * (1.0 / (1.0 + np.exp(-eta)) - y))
            target = b[j] - slope / bound[j]
            target = np.sign(target) * max(abs(target) - penalty[j] / bound[j], 0.0)
            eta += A[:, j] * (target - b[j])
            moved, b[j] = max(moved, abs(target - b[j])), target
        if moved <= tol:
            break
    return (b[:-1], b[-1]) if intercept else (b, 0.0)


class NumpyRows:
    """The methods of ``solve/rows.py`` in plain NumPy: one node at a time, everything in double precision."""

    WRONG = 8.0  # from this margin against the observed answer on, the curvature of a bound stands in

    def __init__(self, X, weights, total, n_threads):
        self.X = np.asarray(X, dtype=float)
        weight = np.ones(len(X)) if weights is None else np.asarray(weights, dtype=float)
        self.w = weight / (total or weight.sum())
        self.eta = np.zeros(self.X.shape)
        self.kept = {}

    def n_distinct(self):
        return len(self.X)

    def margins(self):
        return self.w @ self.X, self.w @ (1.0 - self.X)

    def rounding(self):
        return (len(self.X) + 32) * np.finfo(float).eps

    def residual(self, node):
        margin = self.eta[:, node] * (2.0 * self.X[:, node] - 1.0)
        return self.w * np.exp(-np.logaddexp(0.0, margin)) * (1.0 - 2.0 * self.X[:, node])

    def curvature(self, node, majorized=False):
        if majorized:
            return self.w / 4.0
        margin = self.eta[:, node] * (2.0 * self.X[:, node] - 1.0)
        curve = np.exp(-np.logaddexp(0.0, margin) - np.logaddexp(0.0, -margin))
        return self.w * np.where(margin < -self.WRONG, 0.5 / np.maximum(-margin, self.WRONG), curve)

    def move(self, nodes, offsets, moved_begin, moved, coefficients, asked_begin, asked, afresh):
        sums = []
        for k, node in enumerate(nodes):
            place = slice(moved_begin[k], moved_begin[k + 1])
            step = offsets[k] + self.X[:, moved[place]] @ coefficients[place]
            self.eta[:, node] = step if afresh else self.eta[:, node] + step
            x, eta, residual = self.X[:, node], self.eta[:, node], self.residual(node)
            loss = self.w @ (np.logaddexp(0.0, eta) - x * eta)
            sums.append([loss, self.curvature(node).sum(), residual[x == 0].sum(), -residual[x == 1].sum()])
        return np.array(sums), self.gradients(nodes, asked_begin, asked)

    def gradients(self, nodes, begin, columns):
        values = [self.residual(node) @ self.X[:, columns[begin[k] : begin[k + 1]]] for k, node in enumerate(nodes)]
        return np.concatenate(values)

    def blocks(self, nodes, begin, columns, majorized):
        blocks, slopes, curves = [np.zeros(0)], [np.zeros(0)], []
        for k, node in enumerate(nodes):
            x, v = self.X[:, columns[begin[k] : begin[k + 1]]], self.curvature(node, majorized)
            centered = x - v @ x / v.sum()
            blocks.append((centered.T @ (v[:, None] * centered)).ravel())
            slopes.append(v @ x)
            curves.append(v.sum())
        return (*(np.concatenate(part).astype(np.float32) for part in (blocks, slopes)), np.array(curves))

    def diagonals(self, nodes, begin, columns, majorized):
        diagonals = [np.zeros(0)]
        for k, node in enumerate(nodes):
            one = np.array([0, begin[k + 1] - begin[k]])
            block, _, _ = self.blocks([node], one, columns[begin[k] : begin[k + 1]], majorized)
            diagonals.append(np.diagonal(block.reshape(one[1], one[1])))
            self.kept[node] = columns[begin[k] : begin[k + 1]].copy(), self.curvature(node, majorized)
        return np.concatenate(diagonals).astype(np.float32), *self.blocks(nodes, begin, columns, majorized)[1:]

    def products(self, nodes, begin, columns, d, centers):
        values = []
        for k, node in enumerate(nodes):
            kept, v = self.kept[node]
            assert kept.tolist() == columns[begin[k] : begin[k + 1]].tolist()
            x = self.X[:, kept]
            values.append(x.T @ (v * (x @ d[begin[k] : begin[k + 1]] - centers[k])))
        return np.concatenate(values).astype(np.float32)

    def divergence(self, nodes, c):
        total = 0.0
        for node in nodes:
            x, sigma = self.X[:, node], np.exp(-np.logaddexp(0.0, -self.eta[:, node]))
            moved = x + c * (sigma - x)
            total += self.w @ (moved * np.log(moved / sigma) + (1 - moved) * np.log((1 - moved) / (1 - sigma)))
        return float(total)

    def largest_predictor(self, nodes):
        return float(np.abs(self.eta[:, nodes]).max())

    def gram(self, node, columns):
        Z = np.column_stack([self.X[:, columns], np.ones(len(self.X))])
        return Z.T @ (np.abs(self.residual(node) * (1 - np.abs(self.residual(node)) / self.w))[:, None] * Z)

    def remember(self, nodes):
        self.reference = {node: self.residual(node) for node in nodes}

    def drift(self, nodes):
        moved = [self.residual(node) - self.reference[node] for node in nodes]
        return np.array([[change**2 @ (1.0 / self.w), change.sum()] for change in moved])

    def all_pairs(self, first, last):
        p = self.X.shape[1]
        R = np.column_stack([self.residual(node) for node in range(p)])
        one_sided = R.T @ self.X
        lines = [(one_sided + one_sided.T)[s, s + 1 :] for s in range(first, last)]
        return np.concatenate([*lines, np.zeros(0)]).astype(np.float32), 1e-6
