"""The objective of docs/math.md in plain NumPy: value, gradient, KKT residual, duality gap and proofs.

This is the yardstick, not the solver: the tests recompute here whatever the solver certifies. With row weights w
normalised to sum to one, η_ns = θ_ss + Σ_t θ_st x_nt, and penalty weights ω,

    F(Θ) = Σ_n w_n Σ_s [ log(1+exp η_ns) − x_ns η_ns ]  +  α Σ_{s<t} ω_st |θ_st|        (docs/math.md)

Common to all functions: ``X`` is a 0/1 table, ``couplings`` the symmetric matrix θ_st with zero diagonal, ``fields``
the vector θ_ss; ``sample_weight`` is None or one weight per row; ``penalty_weights`` is None (all 1),
``"standardized"`` (sd_s + sd_t) or a symmetric matrix of ω in [0, inf]. A pair is *free* if ω = 0, *penalised* if
0 < ω < inf, *forbidden* if ω = inf or one of its columns is constant over the rows with positive weight. F is
extended-valued: a non-zero forbidden coupling makes the value, the KKT residual and the gap infinite, a zero one is
skipped in every sum. Constant columns are left out altogether, and fields given for them are ignored (docs/math.md).

Legend: ``theta``, ``field``: Θ on the varying columns. ``margin`` m = (2x−1)η, so that a cell costs log(1+exp(−m)) and
|r| = |σ − x| = 1/(1+exp(m)) without ever rounding σ to 1. ``edge``, ``node``: g_st and g_ss.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from isinglass.data import check_penalty_weights, check_sample_weight, to_binary
from isinglass.errors import DataError, SeparationError
from isinglass.separation import find_separation, free_neighbours, separating_pair

__all__ = [
    "alpha_max",
    "certified_zeros",
    "duality_gap",
    "find_separation",
    "gradient",
    "kkt_residual",
    "null_model",
    "penalty_matrix",
    "profile",
    "relative_gap",
    "smoothed_field",
    "value",
]

FloatArray = NDArray[np.float64]
Weights = ArrayLike | None
Penalty = ArrayLike | str | None

_STATIONARY = 1e-13  # |g| of fields and free edges that makes the dual point feasible (docs/math.md)
_FAR = 10.0  # margins beyond this may be on their way to infinity: ask the linear program
_STEPS = 200  # far more than the bisections between two adjacent floats; Newton needs about 6


# ---------------------------------------------------------------- the objective


def value(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    alpha: float = 0.0,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> float:
    """Return F(Θ); with ``alpha=0`` the mean negative log pseudo-likelihood per row.

    Examples
    --------
    >>> round(value([[0, 1], [1, 0]], np.zeros((2, 2)), np.zeros(2)), 6)  # 2 log 2
    1.386294
    """
    problem, alpha = _Problem.of(X, sample_weight, penalty_weights), _check_alpha(alpha)
    theta, field, allowed = problem.restrict(couplings, fields)
    return _value(problem, theta, field, alpha) if allowed else float("inf")


def gradient(
    X: ArrayLike, couplings: ArrayLike, fields: ArrayLike, *, sample_weight: Weights = None
) -> tuple[FloatArray, FloatArray]:
    """Return the derivatives of the loss (F without penalty): g_st as a symmetric matrix and g_ss as a vector.

    The entries of constant columns, which F does not contain, are zero.

    Examples
    --------
    >>> edge, node = gradient([[0, 1], [1, 0]], np.zeros((2, 2)), np.zeros(2))
    >>> edge.tolist(), node.tolist()
    ([[0.0, 0.5], [0.5, 0.0]], [0.0, 0.0])
    """
    problem = _Problem.of(X, sample_weight, None)
    theta, field, _ = problem.restrict(couplings, fields)
    edge, node = _gradient(problem, problem.margin(theta, field))
    full_edge, full_node = np.zeros((problem.n_features,) * 2), np.zeros(problem.n_features)
    full_edge[np.ix_(problem.columns, problem.columns)], full_node[problem.columns] = edge, node
    return full_edge, full_node


def alpha_max(X: ArrayLike, sample_weight: Weights = None, *, penalty_weights: Penalty = None) -> float:
    """Return the smallest alpha at which every penalised coupling is zero; 0 if nothing is penalised.

    Examples
    --------
    >>> alpha_max([[0, 0], [1, 1]])  # 2 |cov| = 2 · 1/4
    0.5
    """
    problem = _Problem.of(X, sample_weight, penalty_weights)
    if problem.free.any():
        edge, _ = _gradient(problem, problem.margin(*_null(problem)))
    else:  # the closed form 2 |cov| of docs/math.md: at the null model r = x̄ − x
        centred = problem.table - problem.weight @ problem.table
        edge = 2.0 * centred.T @ (problem.weight[:, None] * centred)
    ratios = np.abs(edge[problem.penalised]) / problem.penalty[problem.penalised]
    return float(ratios.max(initial=0.0))


def null_model(
    X: ArrayLike, *, sample_weight: Weights = None, penalty_weights: Penalty = None
) -> tuple[FloatArray, FloatArray]:
    """Return (couplings, fields) of the optimum without penalised edges: logit means, or the fit of the free edges too.

    Raises
    ------
    SeparationError
        If the free edges have no finite optimum.

    Examples
    --------
    >>> couplings, fields = null_model([[0, 1], [1, 0], [1, 1], [1, 0]])
    >>> np.exp(fields).round(6).tolist()  # odds 3:1 and 2:2
    [3.0, 1.0]
    """
    problem = _Problem.of(X, sample_weight, penalty_weights)
    return problem.expand(*_null(problem))


def kkt_residual(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    alpha: float,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> float:
    """Return the largest violation of the optimality conditions (docs/math.md) over all fields and pairs.

    Examples
    --------
    >>> kkt_residual([[0, 0], [1, 1]], np.zeros((2, 2)), np.zeros(2), 0.4)  # |g| = 0.5 at zero
    0.09999999999999998
    """
    problem, alpha = _Problem.of(X, sample_weight, penalty_weights), _check_alpha(alpha)
    theta, field, allowed = problem.restrict(couplings, fields)
    if not allowed:
        return float("inf")
    edge, node = _gradient(problem, problem.margin(theta, field))
    bound = alpha * np.where(problem.penalised, problem.penalty, 0.0)
    at_zero = np.maximum(np.abs(edge) - bound, 0.0)
    violation = np.where(theta != 0.0, np.abs(edge + bound * np.sign(theta)), at_zero)
    candidates = np.r_[np.abs(node), violation[problem.penalised | problem.free]]
    return float(candidates.max(initial=0.0))


# ---------------------------------------------------------------- the certificate


def profile(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> tuple[FloatArray, FloatArray]:
    """Return Θ′: fields and free edges at their optimum given the penalised couplings, which stay (docs/math.md (i)).

    Forbidden couplings are set to zero and constant columns get their smoothed field, so that Θ′ is always admissible.

    Raises
    ------
    SeparationError
        If the free edges have no finite optimum.

    Examples
    --------
    >>> profile([[0, 1], [1, 0], [1, 1], [0, 0]], [[0, 2], [2, 0]], [7, 7])[1].round(6).tolist()
    [-1.0, -1.0]
    """
    problem = _Problem.of(X, sample_weight, penalty_weights)
    theta, field, _ = problem.restrict(couplings, fields)
    return problem.expand(*_profile(problem, theta, field))


def duality_gap(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    alpha: float,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> float:
    """Return an upper bound of F(Θ) − min F, never negative, from a feasible point of the dual (docs/math.md).

    At ``alpha=0`` every pair is free, as with ω = 0. Where the unpenalised optimum lies at infinity, the gap is
    then F(Θ): a valid but idle bound.

    Examples
    --------
    >>> X = [[0, 0], [1, 1]]
    >>> duality_gap(X, np.zeros((2, 2)), np.zeros(2), 0.5)
    0.0
    """
    problem, alpha = _Problem.of(X, sample_weight, penalty_weights), _check_alpha(alpha)
    theta, field, allowed = problem.restrict(couplings, fields)
    return _gap(problem, theta, field, alpha) if allowed else float("inf")


def relative_gap(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    alpha: float,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> float:
    """Return the duality gap divided by max(F(null model), 1e-12).

    Examples
    --------
    >>> relative_gap([[0, 0], [1, 1]], np.zeros((2, 2)), np.zeros(2), 0.0)
    1.0
    """
    problem, alpha = _Problem.of(X, sample_weight, penalty_weights), _check_alpha(alpha)
    theta, field, allowed = problem.restrict(couplings, fields)
    if not allowed:
        return float("inf")
    return _gap(problem, theta, field, alpha) / max(_value(problem, *_null(problem), 0.0), 1e-12)


def certified_zeros(
    X: ArrayLike,
    couplings: ArrayLike,
    fields: ArrayLike,
    alpha: float,
    *,
    sample_weight: Weights = None,
    penalty_weights: Penalty = None,
) -> NDArray[np.bool_]:
    """Return the symmetric matrix of penalised pairs proved to be zero in *every* optimum, whatever Θ is.

    Forbidden pairs are zero by decree, not by proof, and stay False.

    Examples
    --------
    >>> certified_zeros([[0, 0], [1, 1]], np.zeros((2, 2)), np.zeros(2), 0.6).tolist()
    [[False, True], [True, False]]
    """
    problem, alpha = _Problem.of(X, sample_weight, penalty_weights), _check_alpha(alpha)
    theta, field = _profile(problem, *problem.restrict(couplings, fields)[:2])
    gap, scale, edge, node = _fenchel_young(problem, theta, field, alpha)
    # A proof must survive rounding: g of fields and free edges is not exactly zero, the gap is a sum of rounded terms.
    stray = max(np.abs(node).max(initial=0.0), np.abs(edge[problem.free]).max(initial=0.0))
    size = 1.0 + np.abs(field).sum() + np.abs(theta).sum()
    gap += 2.0 * stray * size + 1e-15 * size * (1.0 + _value(problem, theta, field, alpha))
    # The dual is strongly concave: |c g_st| + sqrt(gap · (sd_s² + sd_t²)/2) < α ω_st (docs/math.md).
    radius = np.sqrt(gap * np.add.outer(problem.sd**2, problem.sd**2) / 2.0)
    bound = np.where(problem.penalised, alpha * problem.penalty, -1.0)
    proved = np.zeros((problem.n_features,) * 2, dtype=bool)
    proved[np.ix_(problem.columns, problem.columns)] = np.abs(scale * edge) + radius < bound
    return proved


# ---------------------------------------------------------------- degenerate data


def smoothed_field(n_ones: ArrayLike, n_total: float) -> FloatArray:
    """Return logit((n₁+½)/(N+1)), the finite field of a constant column; N is the sum of the raw weights.

    Examples
    --------
    >>> float(smoothed_field(0, 9).round(6)), float(smoothed_field(4.5, 9))
    (-2.944439, 0.0)
    """
    ones = np.asarray(n_ones, dtype=np.float64)
    return np.asarray(np.log((ones + 0.5) / (n_total - ones + 0.5)))


def penalty_matrix(sd: FloatArray, penalty_weights: Penalty) -> FloatArray:
    """Return ω as a dense matrix with zero diagonal (fields are not penalised), given each column's population sd.

    Examples
    --------
    >>> penalty_matrix(np.array([0.5, 0.3]), "standardized").tolist()
    [[0.0, 0.8], [0.8, 0.0]]
    """
    checked = check_penalty_weights(penalty_weights, len(sd))
    if checked is None:
        omega = np.ones((len(sd), len(sd)))
    elif isinstance(checked, str):
        omega = np.add.outer(sd, sd)
    else:
        omega = np.array(checked)
    np.fill_diagonal(omega, 0.0)
    return omega


# ---------------------------------------------------------------- the reduced problem


@dataclass(frozen=True)
class _Problem:
    """The rows of positive weight and the columns that vary over them: all that depends on the data alone."""

    table: FloatArray  # (n, q) of 0.0 and 1.0
    weight: FloatArray  # (n,), sums to 1
    logit: FloatArray  # (q,), logit of the column means
    sd: FloatArray  # (q,), population
    penalty: FloatArray  # (q, q), ω
    columns: NDArray[np.intp]  # (q,), where the varying columns are in X
    smoothed: FloatArray  # (p,), the fields of constant columns (those of the others are not used)

    @classmethod
    def of(cls, X: ArrayLike, sample_weight: Weights, penalty_weights: Penalty) -> _Problem:
        binary = to_binary(X)
        raw = check_sample_weight(sample_weight, len(binary))
        raw = np.ones(len(binary)) if raw is None else raw
        weight = raw / raw.sum()
        rows = weight > 0
        table, weight = binary[rows].astype(np.float64), weight[rows]
        # Ones and zeros are summed apart: a mean that rounds to 1 would have an infinite logit.
        ones, zeros = weight @ table, weight @ (1.0 - table)
        sd = np.sqrt(ones * zeros)
        columns = np.flatnonzero((table != table[0]).any(axis=0))
        omega = penalty_matrix(sd, penalty_weights)[np.ix_(columns, columns)]
        logit = np.log(ones[columns] / zeros[columns])
        smoothed = smoothed_field(raw @ binary, float(raw.sum()))
        return cls(table[:, columns], weight, logit, sd[columns], omega, columns, smoothed)

    @property
    def n_features(self) -> int:
        return len(self.smoothed)

    @property
    def penalised(self) -> NDArray[np.bool_]:
        return (self.penalty > 0) & np.isfinite(self.penalty)

    @property
    def free(self) -> NDArray[np.bool_]:
        return np.asarray((self.penalty == 0) & ~np.eye(len(self.columns), dtype=bool))

    def restrict(self, couplings: ArrayLike, fields: ArrayLike) -> tuple[FloatArray, FloatArray, bool]:
        """Return Θ on the varying columns without forbidden couplings, and whether these were zero."""
        theta, field = _check_parameters(couplings, fields, self.n_features)
        inner = theta[np.ix_(self.columns, self.columns)]
        kept = np.where(np.isinf(self.penalty), 0.0, inner)
        return kept, field[self.columns], np.count_nonzero(theta) == np.count_nonzero(kept)

    def expand(self, theta: FloatArray, field: FloatArray) -> tuple[FloatArray, FloatArray]:
        couplings, fields = np.zeros((self.n_features,) * 2), self.smoothed.copy()
        couplings[np.ix_(self.columns, self.columns)], fields[self.columns] = theta, field
        return couplings, fields

    def margin(self, theta: FloatArray, field: FloatArray) -> FloatArray:
        return (2.0 * self.table - 1.0) * (self.table @ theta + field)


def _check_alpha(alpha: float) -> float:
    if np.ndim(alpha) != 0 or not 0.0 <= alpha < np.inf:
        raise DataError(f"alpha must be a finite number that is not negative; got {alpha!r}.")
    return float(alpha)


def _check_parameters(couplings: ArrayLike, fields: ArrayLike, n_features: int) -> tuple[FloatArray, FloatArray]:
    theta, field = np.asarray(couplings, dtype=np.float64), np.asarray(fields, dtype=np.float64)
    if theta.shape != (n_features, n_features):
        raise DataError(f"couplings must have shape {(n_features, n_features)}; got {theta.shape}.")
    if field.shape != (n_features,):
        raise DataError(f"fields must have shape {(n_features,)}; got {field.shape}.")
    if not (np.isfinite(theta).all() and np.isfinite(field).all()):
        raise DataError("couplings and fields must be finite; got NaN or infinity.")
    if theta.diagonal().any() or not np.array_equal(theta, theta.T):
        raise DataError(
            "couplings must be symmetric with zero diagonal; got another matrix. Fields go into their own vector."
        )
    return theta, field


def _value(problem: _Problem, theta: FloatArray, field: FloatArray, alpha: float) -> float:
    loss = problem.weight @ np.logaddexp(0.0, -problem.margin(theta, field)).sum(axis=1)
    mask = problem.penalised
    return float(loss + alpha * (problem.penalty[mask] @ np.abs(theta[mask])) / 2.0)  # both triangles


def _gradient(problem: _Problem, margin: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return g_st = C_st + C_ts with C_st = Σ_n w_n r_ns x_nt, and g_ss = Σ_n w_n r_ns (docs/math.md)."""
    weighted = problem.weight[:, None] * (1.0 - 2.0 * problem.table) * expit(-margin)
    cross = weighted.T @ problem.table
    edge = cross + cross.T
    np.fill_diagonal(edge, 0.0)
    return edge, weighted.sum(axis=0)


def _gap(problem: _Problem, theta: FloatArray, field: FloatArray, alpha: float) -> float:
    """Return F(Θ) − F(Θ′) + gap_FY(Θ′); the penalties of Θ and Θ′ are equal, so only margins differ."""
    if alpha == 0.0:
        problem = replace(problem, penalty=np.where(np.isinf(problem.penalty), np.inf, 0.0))
    try:
        best_theta, best_field = _profile(problem, theta, field)
    except SeparationError:
        if alpha > 0.0:  # then it is ω = 0 that asks for what does not exist
            raise
        return _value(problem, theta, field, 0.0)
    margin, best = problem.margin(theta, field), problem.margin(best_theta, best_field)
    step = margin - best
    # log(1+exp(−m)) − log(1+exp(−m′)) = log1p(e′ expm1(m′−m)): exact for small steps, where the difference cancels.
    small = np.log1p(expit(-best) * np.expm1(-np.clip(step, -1.0, 1.0)))
    descent = np.where(np.abs(step) < 1.0, small, np.logaddexp(0.0, -margin) - np.logaddexp(0.0, -best))
    excess = max(float(problem.weight @ descent.sum(axis=1)), 0.0)
    return excess + _fenchel_young(problem, best_theta, best_field, alpha)[0]


def _fenchel_young(
    problem: _Problem, theta: FloatArray, field: FloatArray, alpha: float
) -> tuple[float, float, FloatArray, FloatArray]:
    """Return gap_FY at a profiled point, the factor c of the dual point a = c·r, and the gradient."""
    margin, mask = problem.margin(theta, field), problem.penalised
    edge, node = _gradient(problem, margin)
    bound, slope = alpha * problem.penalty[mask], np.abs(edge[mask])
    binding = slope > bound
    scale = float((bound[binding] / slope[binding]).min(initial=1.0))
    penalised = np.maximum(bound * np.abs(theta[mask]) + scale * edge[mask] * theta[mask], 0.0).sum() / 2.0
    stationary = scale * ((edge * theta)[problem.free].sum() / 2.0 + node @ field)  # |g| ≤ 1e-13: rounding only
    divergence = problem.weight @ _divergence(margin, scale).sum(axis=1)
    return max(float(penalised + stationary + divergence), 0.0), scale, edge, node


def _divergence(margin: FloatArray, scale: float) -> FloatArray:
    """Return KL(x + c r ‖ σ) = c e log c + (1 − c e) softplus(log(1−c) − m), e = 1/(1+exp(m)), per cell."""
    if scale == 1.0:
        return np.zeros(margin.shape)
    if scale == 0.0:
        return np.asarray(np.logaddexp(0.0, -margin))
    miss, hit = expit(-margin), expit(margin)
    kept = (1.0 - scale) + scale * hit  # 1 − c e, without cancelling when e rounds to 1
    cell = scale * miss * np.log(scale) + kept * np.logaddexp(0.0, np.log1p(-scale) - margin)
    return np.asarray(np.maximum(cell, 0.0))


# ---------------------------------------------------------------- profiling


def _null(problem: _Problem) -> tuple[FloatArray, FloatArray]:
    theta = np.zeros_like(problem.penalty)
    return _profile(problem, theta, problem.logit) if problem.free.any() else (theta, problem.logit)


def _profile(problem: _Problem, theta: FloatArray, field: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return Θ′ of docs/math.md (i): all fields by bisected Newton, then fields and free edges of the touched nodes."""
    field = _profile_fields(problem, problem.table @ theta, field)
    pairs = np.argwhere(np.triu(problem.free))
    return (theta, field) if not len(pairs) else _profile_free(problem, theta, field, pairs)


def _profile_fields(problem: _Problem, offset: FloatArray, start: FloatArray) -> FloatArray:
    """Solve g_ss(θ_ss) = 0 for every node at once; g_ss is increasing and changes sign inside the first bracket."""
    low, high = problem.logit - offset.max(axis=0), problem.logit - offset.min(axis=0)
    field = np.clip(start, low, high)
    last = np.full_like(field, np.inf)
    todo = np.arange(len(field))
    for _ in range(_STEPS):
        sigma = expit(offset[:, todo] + field[todo])
        slope = problem.weight @ (sigma - problem.table[:, todo])
        curvature = problem.weight @ (sigma * (1.0 - sigma))
        low[todo] = np.where(slope <= 0, field[todo], low[todo])
        high[todo] = np.where(slope >= 0, field[todo], high[todo])
        open_ = (np.abs(slope) > _STATIONARY) & (high - low > 2.0 * np.spacing(np.abs(field)))[todo]
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            newton = field[todo] - slope / curvature
        # One more Newton step where the last one was tiny: the noise of the gap is |g| |θ|, and g falls to rounding.
        polish = ~open_ & (np.abs(newton - field[todo]) <= 1e-9)
        field[todo[polish]] = newton[polish]
        todo, slope, newton = todo[open_], slope[open_], newton[open_]
        if not len(todo):
            break
        # Bisect where Newton leaves the bracket or does not halve g (a staircase when couplings are huge).
        good = (newton > low[todo]) & (newton < high[todo]) & (np.abs(slope) <= 0.5 * last[todo])
        last[todo] = np.abs(slope)
        field[todo] = np.where(good, newton, low[todo] + 0.5 * (high[todo] - low[todo]))
    return field


def _profile_free(
    problem: _Problem, theta: FloatArray, field: FloatArray, pairs: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Minimise the loss over the free edges and the fields of their nodes; refuse if the optimum is at infinity."""
    block = _FreeBlock.of(problem, pairs)
    offset = problem.table @ np.where(problem.free, 0.0, theta)[:, block.nodes]
    start = np.r_[theta[pairs[:, 0], pairs[:, 1]], field[block.nodes]]
    z, reached = block.minimise(offset, start)
    margin = block.sign * (offset + block.predict(z))
    # A row of small weight has to go further before its share of the gradient fades.
    distance = margin - np.log(problem.weight / problem.weight.max())[:, None]
    if not reached or distance.max() > _FAR:
        found = separating_pair(problem.table, pairs)
        if found is not None:
            s, t = problem.columns[list(found)]
            raise SeparationError(
                f"penalty_weights must be positive where columns separate; got 0 for the pair ({s}, {t}), whose free "
                "coupling is infinite at the optimum. Give the pair a positive weight, or forbid it with inf."
            )
    theta, field = theta.copy(), field.copy()
    theta[pairs[:, 0], pairs[:, 1]] = theta[pairs[:, 1], pairs[:, 0]] = z[: len(pairs)]
    field[block.nodes] = z[len(pairs) :]
    return theta, field


@dataclass(frozen=True)
class _FreeBlock:
    """The unpenalised logistic problem in z = (free couplings, fields of their nodes), with dense Newton steps."""

    nodes: NDArray[np.intp]
    designs: tuple[tuple[FloatArray, NDArray[np.intp]], ...]  # per node: [x_neighbours, 1] and their places in z
    sign: FloatArray  # 2x − 1 of the nodes
    weight: FloatArray

    @classmethod
    def of(cls, problem: _Problem, pairs: NDArray[np.intp]) -> _FreeBlock:
        neighbours = free_neighbours(pairs)
        nodes, one = np.array(list(neighbours), dtype=np.intp), np.ones((len(problem.table), 1))
        designs = tuple(
            (np.hstack([problem.table[:, near], one]), np.array([*position, len(pairs) + k], dtype=np.intp))
            for k, (near, position) in enumerate(neighbours.values())
        )
        return cls(nodes, designs, 2.0 * problem.table[:, nodes] - 1.0, problem.weight)

    def predict(self, z: FloatArray) -> FloatArray:
        return np.stack([design @ z[place] for design, place in self.designs], axis=1)

    def residual(self, eta: FloatArray) -> FloatArray:
        return np.asarray(-self.weight[:, None] * self.sign * expit(-self.sign * eta))

    def slopes(self, eta: FloatArray, size: int) -> FloatArray:
        result = np.zeros(size)
        for (design, place), residual in zip(self.designs, self.residual(eta).T, strict=True):
            result[place] += residual @ design
        return result

    def curvature(self, eta: FloatArray, size: int) -> FloatArray:
        result = np.zeros((size, size))
        variance = self.weight[:, None] * expit(eta) * expit(-eta)
        for (design, place), v in zip(self.designs, variance.T, strict=True):
            result[np.ix_(place, place)] += design.T @ (v[:, None] * design)
        return result

    def minimise(self, offset: FloatArray, z: FloatArray) -> tuple[FloatArray, bool]:
        """Return the minimiser from start ``z`` and whether every |g| ≤ 1e-13 was reached."""
        best, smallest = z, np.inf
        for _ in range(_STEPS):
            eta = offset + self.predict(z)
            slope = self.slopes(eta, len(z))
            size = float(np.abs(slope).max())
            if size < smallest:
                best, smallest = z, size
            if size <= _STATIONARY:
                break
            # μ ∝ |g| keeps Newton quadratic where the Hessian is singular (Li, Fukushima, Qi and Yamashita 2004).
            hessian = self.curvature(eta, len(z)) + (1e-3 * size + 1e-15) * np.eye(len(z))
            step: FloatArray = np.asarray(-np.linalg.solve(hessian, slope), dtype=np.float64)
            length = self.search(eta, self.predict(step))
            if np.array_equal(z + length * step, z):
                break
            z = z + length * step
        return best, smallest <= _STATIONARY

    def search(self, eta: FloatArray, direction: FloatArray) -> float:
        """Return a length where the directional derivative, which increases, has lost half of its size or more."""

        def derivative(length: float) -> float:
            return float((self.residual(eta + length * direction) * direction).sum())

        first, low, high, length = derivative(0.0), 0.0, np.inf, 1.0
        for _ in range(60):
            slope = derivative(length)
            if 0.5 * first <= slope <= -0.1 * first:
                break
            low, high = (length, high) if slope < 0 else (low, length)
            length = 2.0 * length if np.isinf(high) else 0.5 * (low + high)
        return length
