"""A network with attributes of its nodes and edges: what the file formats are written from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork
from isinglass.errors import ArgumentError, DataError
from isinglass.export.columns import Cell, Column, check_name, pair_column, read_column
from isinglass.export.escaping import storable
from isinglass.names import by_node
from isinglass.network import Network, as_network
from isinglass.results import Solution
from isinglass.show.palette import SIGNS, color_groups


@dataclass(frozen=True, eq=False)
class Annotated:
    """A network and what else a file says about it. Edges come in the order of `Network.by_strength`."""

    network: Network  # the network
    node_columns: Mapping[str, Column]  # attributes that were added
    edge_columns: Mapping[str, Column]
    node_colors: tuple[str, ...] | None  # one ``#rrggbb`` per node
    positions: FloatArray | None  # where the nodes lie
    facts: Mapping[str, Cell]  # alpha and certificate, where they are known

    @property
    def pairs(self) -> list[list[int]]:
        """The two nodes of every edge, as numbers."""
        return self.network.edge_index[self.network.by_strength].tolist()  # type: ignore[no-any-return]

    @property
    def node_values(self) -> dict[str, Column]:
        """All that is said about nodes besides their names and places."""
        columns = {
            **_own_columns(self.network),
            "degree": Column("integer", tuple(self.network.degree.tolist())),
            "strength": Column("real", tuple(self.network.strength.tolist())),
            **self.node_columns,
        }
        return columns if self.node_colors is None else {**columns, "color": Column("text", self.node_colors)}

    @property
    def edge_values(self) -> dict[str, Column]:
        """All that is said about edges besides their ends and colors."""
        table = {name: tuple(column.tolist()) for name, column in self.network.edges().items()}
        return {
            "coupling": Column("real", table["coupling"]),
            "sign": Column("integer", table["sign"]),
            "weight": Column("real", table["weight"]),
            **self.edge_columns,
        }

    @property
    def edge_colors(self) -> tuple[str, ...]:
        """Blue for positive couplings, vermillion for negative ones, gray for edges without a sign."""
        return tuple(SIGNS[sign] for sign in self.network.edges()["sign"].tolist())


def annotate(
    network: Any,
    *,
    names: Sequence[str] | None = None,
    node_attributes: Mapping[str, Any] | Any = None,
    edge_attributes: Mapping[str, ArrayLike] | Any = None,
    color_by: str | None = None,
    group_colors: Mapping[Any, str] | None = None,
    positions: ArrayLike | None = None,
) -> Annotated:
    """Return a network with its attributes; the parameters are those of `write_network`.

    Examples
    --------
    >>> found = annotate(Network([0.5, 0], [[0, 1]], [-2], names=["tea", "coffee"]), node_attributes={"hot": [True, 1]})
    >>> found.node_values["hot"]
    Column(kind='text', values=('True', '1'))
    """
    read = as_network(network, names)
    node_columns: dict[str, Column] = {}
    nodes_own, edges_own = (
        (["kind", "categories", "scores", "fields"], ["block"]) if isinstance(read, CategoryNetwork) else ([], [])
    )
    for key, column in _items(node_attributes, "node_attributes"):
        cells = by_node(column, read.names, f"attribute {str(key)!r}")
        node_columns[check_name(key, "node", [*nodes_own, *node_columns])] = read_column(
            str(key), cells, read.n_features
        )
    edge_columns: dict[str, Column] = {}
    pairs = read.edge_index[read.by_strength]
    for key, matrix in _items(edge_attributes, "edge_attributes"):
        edge_columns[check_name(key, "edge", [*edges_own, *edge_columns])] = pair_column(
            str(key), matrix, pairs, read.names
        )
    return Annotated(
        read,
        node_columns,
        edge_columns,
        _node_colors(node_columns, color_by, group_colors),
        None if positions is None else check_positions(positions, read.n_features),
        _facts(network),
    )


def _own_columns(network: Network) -> dict[str, Column]:
    """Return what a network says of its nodes: the field; or the kind and the categories, which have a field each."""
    if not isinstance(network, CategoryNetwork):
        return {"field": Column("real", tuple(network.fields.tolist()))}
    listed = tuple(storable(" | ".join(labels)) for labels in network.labels)
    return {"kind": Column("text", network.kinds), "categories": Column("text", listed)}


def list_blocks(network: Network) -> Iterator[tuple[str, str, str | None, str | None, float]]:
    """Yield source, target, category of the source, category of the target and coupling, the strongest edge first.

    A category is None where its node has no categories of its own in the edge: the coupling is then per unit of score.
    """
    pairs, values = network.edge_index.tolist(), network.edge_values.tolist()
    for k in network.by_strength.tolist():
        s, t = pairs[k]
        ends = network.names[s], network.names[t]
        if not isinstance(network, CategoryNetwork) or network.is_signed[k]:
            yield *ends, None, None, values[k]
            continue
        rows, columns = ([None] if network.scores[node] is not None else network.labels[node] for node in (s, t))
        for row, line in zip(rows, network.blocks[k].tolist(), strict=True):
            for column, coupling in zip(columns, line, strict=True):
                yield *ends, row, column, coupling


def check_positions(positions: ArrayLike, n_nodes: int) -> FloatArray:
    """Return one finite point of the plane per node."""
    points = np.asarray(positions, dtype=np.float64)
    if points.shape != (n_nodes, 2) or not np.isfinite(points).all():
        raise DataError(f"positions must be finite and of shape {(n_nodes, 2)}; got shape {points.shape}.")
    return points


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
        raise ArgumentError("color_by", f"must be one of the node attributes ({', '.join(columns)})", color_by)
    groups = columns[color_by].values
    colors = color_groups(groups, group_colors)
    return tuple(colors[group] for group in groups)


def _facts(network: Any) -> dict[str, Cell]:
    """Return what is known about how the network was estimated."""
    solution = getattr(network, "solution_", network)
    if not isinstance(solution, Solution):
        return {}
    facts = {name: getattr(solution, name) for name in ("alpha", "kkt_residual", "duality_gap", "converged")}
    return {name: value for name, value in facts.items() if value == value}  # a comparator may not know them
