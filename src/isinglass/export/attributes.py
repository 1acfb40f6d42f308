"""Typed attributes of nodes and edges, from which the file formats are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from numpy.typing import ArrayLike

from isinglass.arguments import as_numbers
from isinglass.arrays import FloatArray, plain_value
from isinglass.data.containers import as_frame
from isinglass.data.meaning.values import show_span
from isinglass.errors import ArgumentError, DataError
from isinglass.export.escaping import Cell, storable, xml_characters
from isinglass.names import by_node
from isinglass.network import Network
from isinglass.results import NetworkLike, as_network, solution_of
from isinglass.show.palette import GroupColors, read_groups
from isinglass.variables import Variables

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

AttributeTable: TypeAlias = "Mapping[str, object] | IntoDataFrame"
Positions: TypeAlias = ArrayLike | Mapping[str, Sequence[float]]  # in order, or by name
Attributes: TypeAlias = Sequence[tuple[str, Any]]  # Any: columns as the user has them
Columns: TypeAlias = Mapping[str, Sequence[Cell]]  # values of one type, None where there is none

# Names that the files themselves use, or that Gephi, networkx and Cytoscape give a meaning. Compared without case, as
# Cytoscape does.
_BOTH = {"id", "name", "color", "r", "g", "b", "start", "end", "selected", "suid", "shared name"}
RESERVED = {
    "node": _BOTH | {"label", "field", "degree", "strength", "x", "y", "z", "viz", "pid", "parents"},
    "edge": _BOTH | {"source", "target", "coupling", "sign", "weight", "key", "interaction"},
}
_OF_CATEGORIES = {"node": {"kind", "categories", "scores", "fields"}, "edge": {"block"}}


@dataclass(frozen=True, eq=False)
class Annotated:
    """A network with all columns of a file about it. Edges are in the order of `Network.by_strength`."""

    network: Network
    nodes: Columns  # one value per node; all but the name; "color" if there are groups
    edges: Columns  # one value per edge; all but the two nodes
    pairs: list[list[int]]  # the two nodes of every edge
    positions: FloatArray | None = None
    facts: Mapping[str, Cell] | None = None  # alpha and certificate, as far as they are known


def annotate(
    network: NetworkLike,
    node_attributes: AttributeTable | None = None,
    edge_attributes: AttributeTable | None = None,
    color_by: str | None = None,
    group_colors: GroupColors | None = None,
    positions: Positions | None = None,
) -> Annotated:
    """Return a network with its attributes; the parameters are those of `write_network`."""
    drawn = as_network(network).without_covariates()
    attributes = list_columns(node_attributes, "node_attributes")
    nodes = _node_columns(drawn, attributes)
    if color_by is not None:
        given = dict(attributes)
        if not isinstance(color_by, str) or color_by not in given:
            known = ", ".join(map(repr, given)) or "there are none"
            raise ArgumentError("color_by", f"must be one of the node attributes ({known})", color_by)
        groups, color_of = read_groups(given[color_by], group_colors, drawn.names)
        nodes["color"] = [color_of[group] for group in groups]
    elif group_colors is not None:
        raise DataError("group_colors must come with color_by, the node attribute that holds the groups; got None.")
    edges = _edge_columns(drawn, list_columns(edge_attributes, "edge_attributes"))
    pairs = drawn.edge_index[drawn.by_strength].tolist()
    places = None if positions is None else check_positions(positions, drawn.names)
    return Annotated(drawn, nodes, edges, pairs, places, _facts(network))


def _node_columns(network: Network, attributes: Attributes) -> dict[str, Sequence[Cell]]:
    variables, columns = network.variables, dict[str, Sequence[Cell]]()
    if variables.is_binary:
        columns["field"] = network.fields.tolist()
    else:
        columns["kind"] = network.kinds
        columns["categories"] = [storable(_list_categories(network, s)) for s in range(network.n_features)]
    if variables.wording is not None and "wording" not in {key.casefold() for key, _ in attributes}:
        columns["wording"] = list(map(storable, variables.wording))
    columns |= {"degree": network.degree.tolist(), "strength": network.strength.tolist()}
    for key, values in attributes:
        name = check_name(key, "node", variables, columns)
        columns[name] = read_column(key, by_node(values, network.names, f"attribute {key!r}"), network.n_features)
    return columns


def _edge_columns(network: Network, attributes: Attributes) -> dict[str, Sequence[Cell]]:
    table = network.edges()
    columns: dict[str, Sequence[Cell]] = {name: table[name].tolist() for name in ("coupling", "sign", "weight")}
    for key, values in attributes:
        name = check_name(key, "edge", network.variables, columns)
        columns[name] = read_column(key, values, network.n_edges)
    return columns


def _list_categories(network: Network, s: int) -> str:
    """Return the categories of a node in one text; of a continuous one the numbers of the first and the last step."""
    values = network.categories[s]
    if network.kinds[s] == "continuous":
        return f"{show_span(values[0], values[-1])} in {len(values)} steps"
    return " | ".join(str(value) for value in values if value is not None)  # the other one of a constant


def check_positions(positions: Positions, names: Sequence[str]) -> FloatArray:
    """Return one finite point of the plane per node; positions are in order, or by name."""
    if isinstance(positions, Mapping):
        positions = by_node(positions, names, "positions")
        for name, place in zip(names, positions, strict=True):
            if place is None:
                raise DataError(f"positions must have a place for every node; got none for {name!r}.")
    return as_numbers("positions", positions, (len(names), 2))


def list_columns(table: object, name: str) -> Attributes:
    """Return the columns of a mapping, a data frame or a record with ``columns``."""
    if table is None:
        return []
    columns = getattr(table, "columns", table)
    if isinstance(columns, Mapping):
        return list(columns.items())
    frame = as_frame(table)
    if frame is None:
        raise DataError(f"{name} must be a data frame or a mapping of columns; got {type(table).__name__}.")
    labeled = frame.implementation.is_pandas_like()  # its columns are joined by their index
    return [(each.name, each.to_native() if labeled else each.to_list()) for each in frame.iter_columns()]


def _facts(network: NetworkLike) -> dict[str, Cell]:
    solution = solution_of(network)
    if solution is None:
        return {}
    facts = {name: getattr(solution, name) for name in ("alpha", "kkt_residual", "duality_gap", "converged")}
    return {name: value for name, value in facts.items() if value == value}  # NaN where it is not known


def read_cells(what: str, values: Iterable[object]) -> list[Cell]:
    """Return the values of a column, None for those that are NaN or NA; errors call the column ``what``."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ArgumentError(what, "must be a column of values", values)
    cells = [plain_value(value) for value in values]
    for cell in cells:
        if isinstance(cell, Sized) and not isinstance(cell, str | bytes):
            remedy = "Make a column of each of them, or one text of all."
            raise ArgumentError(what, "must have one value in every cell", cell, remedy)
    return cells


def are_numbers(cells: Iterable[Cell]) -> bool:
    """Tell whether the present values of a column are numbers, at least one."""
    present = [cell for cell in cells if cell is not None]
    return bool(present) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in present)


def read_column(name: str, values: Iterable[object], length: int) -> list[Cell]:
    """Return a column whose values have one type: booleans, integers, floats, else texts."""
    cells = read_cells(f"attribute {name!r}", values)
    if len(cells) != length:
        raise DataError(f"attribute {name!r} must have one value for each of the {length} edges; got {len(cells)}.")
    convert = {"boolean": bool, "long": int, "double": float}.get(xml_type(cells), lambda cell: storable(str(cell)))
    return [None if cell is None else convert(cell) for cell in cells]


def xml_type(cells: Iterable[Cell]) -> str:
    """Return what GEXF and GraphML call the narrowest type of a column."""
    present = [cell for cell in cells if cell is not None]
    if present and all(isinstance(cell, bool) for cell in present):
        return "boolean"
    if not are_numbers(present):
        return "string"
    return "long" if all(isinstance(cell, int) and -(2**63) <= cell < 2**63 for cell in present) else "double"


def check_name(name: object, of: Literal["node", "edge"], variables: Variables, taken: Iterable[str]) -> str:
    """Return the name of an attribute as all files have it, unless it has another meaning in one of them."""
    if not isinstance(name, str) or not name.strip():
        raise DataError(f"the name of an attribute must be a text that is not empty; got {name!r}.")
    written = xml_characters(name)
    is_binary = all(kind == "binary" for kind in variables.take(variables.is_modeled).kinds)
    if written.casefold() in RESERVED[of] or (not is_binary and written.casefold() in _OF_CATEGORIES[of]):
        reason = "isinglass, Gephi, networkx or Cytoscape give that name a meaning, and all files share names"
    elif written.casefold() in {other.casefold() for other in taken}:
        reason = "another column has that name, in upper or lower case"
    else:
        return written
    raise DataError(f"an attribute of {of}s cannot be called {name!r}: {reason}. Rename it.")
