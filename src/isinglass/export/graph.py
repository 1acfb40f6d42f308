"""What every writer and every figure needs of a network: nodes, edges and their attributes, in a fixed order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from isinglass.errors import DataError
from isinglass.export.columns import Cell, Column, check_name, pair_column, read_column
from isinglass.model import IsingModel, check_names
from isinglass.results import Solution
from isinglass.show.palette import NEGATIVE, POSITIVE, color_groups

__all__ = ["Graph", "Network", "read_graph"]

FloatArray = NDArray[np.float64]
Network: TypeAlias = IsingModel | Solution | Any
"""An `IsingModel`, a `Solution`, or a fitted estimator (anything with ``model_``)."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes and edges with their attributes.

    Parameters
    ----------
    names : tuple of str
        The nodes.
    fields : ndarray of shape (n_nodes,)
        θ_ss.
    edge_index : ndarray of int, shape (n_edges, 2)
        Pairs (s, t) with s < t; the largest |coupling| first, ties in node order.
    couplings : ndarray of shape (n_edges,)
        θ_st of these pairs.
    node_columns, edge_columns : mapping of str to Column
        Attributes that were added.
    node_colors : tuple of str, optional
        One ``#rrggbb`` per node.
    positions : ndarray of shape (n_nodes, 2), optional
        Where the nodes lie.
    facts : mapping of str to number or bool
        Alpha and certificate, where they are known.
    """

    names: tuple[str, ...]
    fields: FloatArray
    edge_index: NDArray[np.intp]
    couplings: FloatArray
    node_columns: Mapping[str, Column]
    edge_columns: Mapping[str, Column]
    node_colors: tuple[str, ...] | None
    positions: FloatArray | None
    facts: Mapping[str, Cell]

    @property
    def n_nodes(self) -> int:
        """Number of nodes, isolated ones included."""
        return len(self.names)

    @property
    def n_edges(self) -> int:
        """Number of non-zero couplings."""
        return len(self.couplings)

    @cached_property
    def weights(self) -> FloatArray:
        """|θ_st|: layouts and path lengths of other programs want weights that are not negative."""
        return np.abs(self.couplings)

    @cached_property
    def signs(self) -> tuple[int, ...]:
        """1 or -1, as in the edges of an estimator."""
        return tuple(1 if coupling > 0 else -1 for coupling in self.couplings)

    @cached_property
    def edge_colors(self) -> tuple[str, ...]:
        """Blue for positive couplings, vermillion for negative ones."""
        return tuple(POSITIVE if coupling > 0 else NEGATIVE for coupling in self.couplings)

    @cached_property
    def degree(self) -> NDArray[np.intp]:
        """Number of edges of every node."""
        return np.bincount(self.edge_index.ravel(), minlength=self.n_nodes)

    @cached_property
    def strength(self) -> FloatArray:
        """Σ_t |θ_st| of every node."""
        ends = self.edge_index.T.ravel()
        return np.bincount(ends, weights=np.tile(self.weights, 2), minlength=self.n_nodes).astype(np.float64)

    @property
    def node_values(self) -> dict[str, Column]:
        """All that is said about nodes besides their names and places."""
        columns = {
            "field": Column("real", tuple(self.fields.tolist())),
            "degree": Column("integer", tuple(self.degree.tolist())),
            "strength": Column("real", tuple(self.strength.tolist())),
            **self.node_columns,
        }
        return columns if self.node_colors is None else {**columns, "color": Column("text", self.node_colors)}

    @property
    def edge_values(self) -> dict[str, Column]:
        """All that is said about edges besides their ends and colours."""
        return {
            "coupling": Column("real", tuple(self.couplings.tolist())),
            "sign": Column("integer", self.signs),
            "weight": Column("real", tuple(self.weights.tolist())),
            **self.edge_columns,
        }

    def pairs(self) -> Iterator[tuple[int, int, float]]:
        """Yield (s, t, coupling) of every edge as plain numbers."""
        for (s, t), coupling in zip(self.edge_index.tolist(), self.couplings.tolist(), strict=True):
            yield s, t, coupling


def read_graph(
    network: Network,
    *,
    names: Sequence[str] | None = None,
    node_attributes: Mapping[str, Sequence[Any]] | Any = None,
    edge_attributes: Mapping[str, ArrayLike] | Any = None,
    color_by: str | None = None,
    group_colors: Mapping[Any, str] | None = None,
    positions: ArrayLike | None = None,
) -> Graph:
    """Return nodes, edges and attributes of a network; the parameters are those of `write_network`.

    Examples
    --------
    >>> model = IsingModel([[0, -2.0], [-2.0, 0]], [0.5, 0.0], names=["tea", "coffee"])
    >>> graph = read_graph(model, node_attributes={"hot": [True, True]})
    >>> graph.names, graph.edge_index.tolist(), graph.weights.tolist(), graph.signs, graph.node_columns["hot"].kind
    (('tea', 'coffee'), [[0, 1]], [2.0], (-1,), 'boolean')
    """
    fields, index, values, own_names = _read_edges(network)
    order = np.argsort(-np.abs(values), kind="stable")
    index, values, n_nodes = index[order], values[order], len(fields)
    node_columns: dict[str, Column] = {}
    for key, column in _items(node_attributes, "node_attributes"):
        node_columns[check_name(key, "node", [*node_columns])] = read_column(str(key), column, n_nodes)
    edge_columns: dict[str, Column] = {}
    for key, matrix in _items(edge_attributes, "edge_attributes"):
        edge_columns[check_name(key, "edge", [*edge_columns])] = pair_column(str(key), matrix, index, n_nodes)
    return Graph(
        own_names if names is None else check_names(names, n_nodes),
        fields,
        index,
        values,
        node_columns,
        edge_columns,
        _node_colors(node_columns, color_by, group_colors),
        None if positions is None else check_positions(positions, n_nodes),
        _facts(network),
    )


def check_positions(positions: ArrayLike, n_nodes: int) -> FloatArray:
    """Return one finite point of the plane per node."""
    points = np.asarray(positions, dtype=np.float64)
    if points.shape != (n_nodes, 2) or not np.isfinite(points).all():
        raise DataError(f"positions must be finite and of shape {(n_nodes, 2)}; got shape {points.shape}.")
    return points


def _read_edges(network: Network) -> tuple[FloatArray, NDArray[np.intp], FloatArray, tuple[str, ...]]:
    """Return fields, pairs in lexicographic order, couplings and names; a Solution never becomes a dense matrix."""
    model = getattr(network, "model_", network)
    if isinstance(model, Solution):
        present = model.edge_values != 0.0
        index, values = model.edge_index[present].astype(np.intp), model.edge_values[present]
        return model.fields, index, values, check_names(None, model.n_features)
    if isinstance(model, IsingModel):
        index = np.argwhere(np.triu(model.couplings, 1))
        return model.fields, index, model.couplings[index[:, 0], index[:, 1]], tuple(model.names)
    raise DataError(
        f"network must be an IsingModel, a Solution or a fitted estimator; got {type(network).__name__}. Take one "
        "point of a path, fit the estimator first, or make a model of matrices: IsingModel(couplings, fields, names)."
    )


def _items(attributes: Any, name: str) -> list[tuple[Any, Any]]:
    if attributes is None:
        return []
    if hasattr(attributes, "to_dict") and hasattr(attributes, "get_columns"):  # polars, whose frames have no items()
        return [(column.name, column) for column in attributes.get_columns()]
    if hasattr(attributes, "column_names") and hasattr(attributes, "columns"):  # pyarrow
        columns = (column.to_pylist() for column in attributes.columns)
        return list(zip(attributes.column_names, columns, strict=True))
    if not hasattr(attributes, "items"):
        raise DataError(f"{name} must map names to columns; got {type(attributes).__name__}.")
    return list(attributes.items())


def _node_colors(
    columns: Mapping[str, Column], color_by: str | None, group_colors: Mapping[Any, str] | None
) -> tuple[str, ...] | None:
    if color_by is None:
        if group_colors is not None:
            raise DataError("group_colors must come with color_by, the node attribute that holds the groups; got None.")
        return None
    if color_by not in columns:
        raise DataError(f"color_by must be one of the node attributes ({', '.join(columns)}); got {color_by!r}.")
    groups = columns[color_by].values
    colors = color_groups(groups, group_colors)
    return tuple(colors[group] for group in groups)


def _facts(network: Network) -> dict[str, Cell]:
    """Return what is known about how the network was estimated."""
    solution = getattr(network, "solution_", network)
    if not isinstance(solution, Solution):
        return {}
    facts = {name: getattr(solution, name) for name in ("alpha", "kkt_residual", "duality_gap", "converged")}
    return {name: value for name, value in facts.items() if value == value}  # a comparator may not know them
