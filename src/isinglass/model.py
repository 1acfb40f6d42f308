"""One Ising network: frozen couplings, fields and names, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from isinglass.data import to_binary
from isinglass.errors import DataError
from isinglass.results import Solution

__all__ = ["Edge", "IsingModel", "check_names"]

FloatArray = NDArray[np.float64]

# Rounding that survives an export or a product such as Q @ D @ Q.T; anything larger is a mistake.
_SYMMETRY_RTOL = 1e-12
_SHOWN_EDGES = 3  # in the repr


class Edge(NamedTuple):
    """One non-zero coupling between two named nodes."""

    source: str
    target: str
    coupling: float


@dataclass(frozen=True, eq=False, repr=False)
class IsingModel:
    """Distribution of p yes/no variables, P(x) ∝ exp(Σ_s θ_ss x_s + Σ_{s<t} θ_st x_s x_t).

    Parameters
    ----------
    couplings : array-like of shape (n_features, n_features)
        θ_st: symmetric, zero diagonal. A difference from the transpose of up to 1e-12 of the largest
        entry is taken as rounding: the upper triangle is kept. Copied and made read-only.
    fields : array-like of shape (n_features,)
        θ_ss. Copied and made read-only.
    names : sequence of str, optional
        One distinct name per node; ``x0``, ``x1``, … by default.

    Examples
    --------
    >>> model = IsingModel([[0, 2.0], [2.0, 0]], [-1.0, 0.0], names=["rain", "umbrella"])
    >>> model.edges()
    [Edge(source='rain', target='umbrella', coupling=2.0)]
    >>> model.conditional_probabilities([[0, 1]]).round(3).tolist()
    [[0.731, 0.5]]
    """

    couplings: FloatArray
    fields: FloatArray
    names: Sequence[str] = None  # type: ignore[assignment]  # always a tuple once constructed

    def __post_init__(self) -> None:
        fields = _checked_fields(self.fields)
        couplings = _checked_couplings(self.couplings, len(fields))
        names = check_names(self.names, len(fields))
        for array in (couplings, fields):
            array.flags.writeable = False
        object.__setattr__(self, "couplings", couplings)
        object.__setattr__(self, "fields", fields)
        object.__setattr__(self, "names", names)

    @classmethod
    def from_theta(cls, theta: ArrayLike, names: Sequence[str] | None = None) -> IsingModel:
        """Split the paper's Θ, which holds the fields on its diagonal.

        Examples
        --------
        >>> IsingModel.from_theta([[0.5, 1.0], [1.0, -0.5]]).fields.tolist()
        [0.5, -0.5]
        """
        matrix = _square(theta, "theta")
        fields = np.diag(matrix).copy()
        np.fill_diagonal(matrix, 0.0)
        return cls(matrix, fields, names)  # type: ignore[arg-type]

    @classmethod
    def from_solution(cls, solution: Solution, names: Sequence[str] | None = None) -> IsingModel:
        """Take the network of one point of a path."""
        return cls(solution.couplings, solution.fields, names)  # type: ignore[arg-type]

    @classmethod
    def from_spins(cls, J: ArrayLike, h: ArrayLike, names: Sequence[str] | None = None) -> IsingModel:
        """Convert from ±1 coding, P(z) ∝ exp(Σ_s h_s z_s + Σ_{s<t} J_st z_s z_t) with z = 2x − 1.

        θ_st = 4 J_st and θ_ss = 2 h_s − 2 Σ_t J_st.

        Examples
        --------
        >>> IsingModel.from_spins([[0, 0.25], [0.25, 0]], [0, 0]).theta.tolist()
        [[-0.5, 1.0], [1.0, -0.5]]
        """
        spin_fields = _checked_fields(h, "h")
        spin_couplings = _checked_couplings(J, len(spin_fields), "J")
        return cls(4 * spin_couplings, 2 * spin_fields - 2 * spin_couplings.sum(axis=1), names)  # type: ignore[arg-type]

    def to_spins(self) -> tuple[FloatArray, FloatArray]:
        """Return (J, h) of the same distribution in ±1 coding; the inverse of `from_spins`.

        J_st = θ_st / 4 and h_s = θ_ss / 2 + Σ_t θ_st / 4. A field in one coding is not a field in
        the other: it takes up the couplings of its node.
        """
        J = self.couplings / 4
        return J, self.fields / 2 + J.sum(axis=1)

    @property
    def theta(self) -> FloatArray:
        """The paper's Θ: the couplings with the fields on the diagonal."""
        return self.couplings + np.diag(self.fields)

    @property
    def n_features(self) -> int:
        """Number of nodes, isolated ones included."""
        return len(self.fields)

    @property
    def n_edges(self) -> int:
        """Number of non-zero couplings."""
        return int(np.count_nonzero(np.triu(self.couplings, 1)))

    def edges(self) -> list[Edge]:
        """Return the non-zero couplings, largest absolute value first, ties in node order."""
        s, t = np.nonzero(np.triu(self.couplings, 1))
        values = self.couplings[s, t]
        order = np.argsort(-np.abs(values), kind="stable")
        return [Edge(self.names[s[k]], self.names[t[k]], float(values[k])) for k in order]

    def conditional_probabilities(self, X: ArrayLike) -> FloatArray:
        """Return P(x_s = 1 | the rest of the row) for every cell, shape (n_samples, n_features)."""
        probabilities: FloatArray = expit(self._logits(self._table(X)))
        return probabilities

    def log_pseudolikelihood(self, X: ArrayLike) -> FloatArray:
        """Return Σ_s log P(x_s | the rest) of every row, shape (n_samples,)."""
        table = self._table(X)
        # log P(x_s | rest) = −log(1 + exp(∓η)); logaddexp has no overflow where exp(η) would.
        rows: FloatArray = -np.logaddexp(0.0, (1 - 2 * table) * self._logits(table)).sum(axis=1)
        return rows

    def energy(self, X: ArrayLike) -> FloatArray:
        """Return the energy of every row, with P(x) = exp(−energy(x) − Ψ); shape (n_samples,)."""
        table = self._table(X)
        energies: FloatArray = -(table @ self.fields + 0.5 * np.einsum("ns,ns->n", table @ self.couplings, table))
        return energies

    def _logits(self, table: FloatArray) -> FloatArray:
        logits: FloatArray = self.fields + table @ self.couplings
        return logits

    def _table(self, X: ArrayLike) -> FloatArray:
        table = to_binary(X)
        if table.shape[1] != self.n_features:
            raise DataError(
                f"X must have one column per node ({self.n_features}); got {table.shape[1]}. "
                "Pass the columns the model was made from, in the same order."
            )
        return table.astype(np.float64)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IsingModel):
            return NotImplemented
        return (
            self.names == other.names
            and np.array_equal(self.couplings, other.couplings)
            and np.array_equal(self.fields, other.fields)
        )

    __hash__ = None  # type: ignore[assignment]  # holds arrays; equal models need not be the same object

    def __repr__(self) -> str:
        strongest = self.edges()[:_SHOWN_EDGES]
        shown = ", ".join(f"{edge.source}–{edge.target} {edge.coupling:+.3g}" for edge in strongest)
        more = ", …" if self.n_edges > _SHOWN_EDGES else ""
        return f"IsingModel({self.n_features} nodes, {self.n_edges} edges" + (f": {shown}{more})" if shown else ")")


def _numbers(values: ArrayLike, name: str) -> FloatArray:
    try:
        array = np.array(values, dtype=np.float64)  # always a copy: the model owns its arrays
    except (TypeError, ValueError):
        raise DataError(f"{name} must be an array of numbers; got {values!r}.") from None
    if not np.isfinite(array).all():
        raise DataError(f"{name} must be finite; got {float(array[~np.isfinite(array)][0])!r}.")
    return array


def _square(values: ArrayLike, name: str) -> FloatArray:
    matrix = _numbers(values, name)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise DataError(f"{name} must be a square matrix with at least one row; got shape {matrix.shape}.")
    difference = np.abs(matrix - matrix.T)
    if difference.max() > _SYMMETRY_RTOL * np.abs(matrix).max():
        s, t = (int(k) for k in np.unravel_index(np.argmax(difference), matrix.shape))
        raise DataError(
            f"{name} must be symmetric; got {float(matrix[s, t])!r} at ({s}, {t}) and {float(matrix[t, s])!r} "
            f"at ({t}, {s}). Average the two directions first: (A + A.T) / 2."
        )
    upper = np.triu(matrix, 1)
    return upper + upper.T + np.diag(np.diag(matrix))


def _checked_couplings(values: ArrayLike, n_features: int, name: str = "couplings") -> FloatArray:
    matrix = _square(values, name)
    if len(matrix) != n_features:
        raise DataError(f"{name} must have shape {(n_features, n_features)}, one row per field; got {matrix.shape}.")
    diagonal = np.diag(matrix)
    if diagonal.any():
        raise DataError(
            f"{name} must be zero on the diagonal; got {float(diagonal[diagonal != 0][0])!r}. "
            "Put these values into the fields, or use IsingModel.from_theta."
        )
    return matrix


def _checked_fields(values: ArrayLike, name: str = "fields") -> FloatArray:
    fields = _numbers(values, name)
    if fields.ndim != 1 or fields.size == 0:
        raise DataError(f"{name} must be a vector with one value per node; got shape {fields.shape}.")
    return fields


def check_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    """Return one distinct name per node; ``x0``, ``x1``, … if there are none.

    Examples
    --------
    >>> check_names(None, 2)
    ('x0', 'x1')
    """
    if names is None:
        return tuple(f"x{k}" for k in range(n_features))
    if isinstance(names, str):
        raise DataError(f"names must be a list of strings, one per node; got {names!r}.")
    checked = tuple(names)
    if len(checked) != n_features:
        raise DataError(f"names must have one entry per node ({n_features}); got {len(checked)}.")
    for name in checked:
        if not isinstance(name, str):
            raise DataError(f"names must be strings; got {name!r}. Use [str(name) for name in names].")
    repeated = [name for k, name in enumerate(checked) if name in checked[:k]] if len(set(checked)) < n_features else []
    if repeated:
        raise DataError(f"names must be different from each other; got {repeated[0]!r} twice.")
    return tuple(str(name) for name in checked)  # plain str, not numpy.str_
