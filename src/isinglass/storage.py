"""Records as JSON and arrays, for the files that hold them, and the checks on the way back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from os import PathLike, fspath
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.archive import Archive, DamagedError
from isinglass.arguments import is_real, is_whole
from isinglass.arrays import FloatArray
from isinglass.errors import DataError
from isinglass.network import Network, pair_keys, symmetric_matrix
from isinglass.results import Evidence, Missing, Path, Solution, Stability
from isinglass.variables import MAX_CATEGORIES, Variables

SCALARS = ("objective", "kkt_residual", "duality_gap")
COUNTS = ("certified_zeros", "n_iter", "n_screened")
STABILITY_NUMBERS = ("alpha", "threshold", "dense_end")
STABILITY_COUNTS = ("index", "subsample_size", "n_subsamples", "n_extensions", "n_fits", "n_fits_saved", "n_constant")
MISSING_COUNTS = ("n_rows", "n_cells", "n_left_out", "n_holed", "n_patterns", "n_imputations", "settled")
BYTES_PER_NETWORK = 1 << 13
"""What one of very many small networks counts for when a file is read: memory, and the time it takes to make it."""
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class NotStorableError(Exception):
    """A value that JSON cannot hold, such as a generator or a splitter."""


def to_json(value: Any) -> Any:
    """Return a value in the form it has in the header: tuples, mappings and odd floats say what they are."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, PathLike):
        value = fspath(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, tuple):
        return {"tuple": [to_json(item) for item in value]}
    if isinstance(value, list):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {"mapping": [[to_json(key), to_json(item)] for key, item in value.items()]}
    raise NotStorableError(f"{type(value).__name__}")


def from_json(value: Any) -> Any:
    """Return what `to_json` was given."""
    if isinstance(value, list):
        return [from_json(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"float"} and value["float"] in _WORDS:
        return _WORDS[value["float"]]
    if value.keys() == {"tuple"} and isinstance(value["tuple"], list):
        return tuple(from_json(item) for item in value["tuple"])
    if value.keys() == {"mapping"} and isinstance(value["mapping"], list):
        pairs = [from_json(pair) for pair in value["mapping"]]
        if all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
            return dict(pairs)
    raise DamagedError("its header holds a value of an unknown kind")


class Writing:
    """Header and arrays of a file that is being put together."""

    def __init__(self, header: dict[str, Any]) -> None:
        self.header = header
        self.arrays: dict[str, NDArray[Any]] = {}

    def _take(self, section: str, record: Any, entries: Sequence[str], arrays: Mapping[str, Any]) -> None:
        """Take entries of a record into a section of the header, and arrays under the name of the section."""
        self.header[section] = {name: to_json(getattr(record, name)) for name in entries}
        self.arrays |= {f"{section}.{name}": array for name, array in arrays.items() if array is not None}

    def network(self, network: Network) -> None:
        """Take the variables, fields and edges; where pairs have several parameters, these too."""
        variables = network.variables
        self.header |= {"names": list(network.names), "named": variables.named, "n_features": network.n_features}
        self.arrays |= {name: getattr(network, name) for name in ("fields", "edge_index", "edge_values")}
        if variables.is_plain:
            return
        try:
            labels = [to_json(list(values)) for values in network.categories]
        except NotStorableError as error:
            raise DataError(
                f"categories must be called by numbers or text to be saved; got {error}. Replace them by text first."
            ) from None
        self.header["categories"] = {"kinds": list(network.kinds), "labels": labels}
        self.arrays |= {"scores": variables.factor, "parameters": network.parameters}

    def sums(self, marginals: Any, edge_counts: Any) -> None:
        """Take the sums over rows."""
        if isinstance(marginals, tuple):
            marginals, edge_counts = np.concatenate(marginals), _join(edge_counts, np.int64)
        self.arrays |= {"marginals": marginals, "edge_counts": edge_counts}

    def solution(self, solution: Solution) -> None:
        """Take a network with its certificate."""
        self.network(solution.network)
        self._take("certificate", solution, ("alpha", *SCALARS, *COUNTS, "converged"), {})
        if solution.alphas_per_node is not None:
            self.arrays["alphas_per_node"] = solution.alphas_per_node

    def path(self, path: Path) -> None:
        """Take all solutions of a path, their edges one alpha after the other."""
        networks = [s.network for s in path]
        columns = {name: np.array([getattr(s, name) for s in path]) for name in ("alpha", *SCALARS)}
        columns |= {name: np.array([getattr(s, name) for s in path], np.int64) for name in COUNTS}
        columns |= {
            "converged": np.array([s.converged for s in path], dtype=bool),
            "bounds": np.cumsum([0, *(s.n_edges for s in path)], dtype=np.int64),
            "edge_index": np.concatenate([s.edge_index for s in path]),
            "edge_values": np.concatenate([s.edge_values for s in path]),
            "fields": np.array([network.fields for network in networks]),
        }
        if not networks[0].variables.is_plain:
            columns["parameters"] = np.concatenate([network.parameters for network in networks])
        self._take("path", path, ("tol",), columns)

    def stability(self, stability: Stability) -> None:
        """Take what StARS found; of the shares of every alpha the upper triangle."""
        upper = [sp.triu(shares, 1, format="csr").tocoo() for shares in stability.edge_frequencies]
        arrays = {name: getattr(stability, name) for name in ("alphas", "instability", "monotone")} | {
            "bounds": np.cumsum([0, *(part.nnz for part in upper)], dtype=np.int64),
            "edge_index": np.concatenate([np.column_stack([u.row, u.col]) for u in upper]).astype(np.int32),
            "shares": np.concatenate([part.data for part in upper]),
        }
        self._take("stability", stability, (*STABILITY_NUMBERS, *STABILITY_COUNTS), arrays)

    def evidence(self, evidence: Evidence) -> None:
        """Take the curve that a penalty was read from."""
        arrays = {name: getattr(evidence, name) for name in ("alphas", "values", "errors")}
        self._take("evidence", evidence, ("kind", "choice", "settings"), arrays)

    def missing(self, missing: Missing) -> None:
        """Take where cells were missing, and what was done."""
        arrays = {name: value for name, value in vars(missing).items() if isinstance(value, np.ndarray)}
        self._take("missing", missing, ("treatment", "noise", *MISSING_COUNTS), arrays)


def _join(arrays: Iterable[NDArray[Any]], kind: Any = np.float64) -> NDArray[Any]:
    """Return the entries of one array after the other; an empty one of nothing."""
    parts = [array.ravel() for array in arrays]
    return np.concatenate(parts) if parts else np.empty(0, dtype=kind)


def _cut(values: NDArray[Any], shapes: Sequence[tuple[int, ...]]) -> tuple[NDArray[Any], ...]:
    """Return tables of these shapes that `_join` put together."""
    ends = np.cumsum([math.prod(shape) for shape in shapes])[:-1]
    parts = np.split(values, ends) if shapes else []
    return tuple(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True))


class Reading:
    """Records of a file, checked: whatever passes here is a network that `save` could have written."""

    def __init__(self, archive: Archive) -> None:
        self.archive, self.header = archive, archive.header
        n_features: Any = self.header.get("n_features")
        names: Any = self.header.get("names")
        require(is_whole(n_features) and n_features >= 1, "its number of columns is not a number")
        texts = isinstance(names, list) and len(names) == n_features and all(isinstance(name, str) for name in names)
        require(texts, "its names are not one text per column")
        require(len(set(names)) == n_features, "two of its columns have one name")
        self.names, self.n_features = names, n_features
        self.variables = self._read_variables()
        self.n_fields = int(self.variables.sizes.sum()) - n_features

    def _read_variables(self) -> Variables:
        """Return what the columns are: 0 and 1 unless the file says more."""
        named = self.header.get("named")
        require(isinstance(named, bool), "it does not say whether its columns had names")
        if "categories" not in self.header:
            return Variables.binary(self.names) if named else Variables.binary(self.n_features)
        part, p = self.header["categories"], self.n_features
        require(isinstance(part, dict) and isinstance(part.get("kinds"), list), "its categories have no kinds")
        require(len(part["kinds"]) == p, "its kinds are not one word per column")
        labels = part.get("labels")
        values = [from_json(each) for each in labels] if isinstance(labels, list) else []
        plain = all(isinstance(each, list) for each in values) and all(
            isinstance(value, str | int | float | None) for each in values for value in each
        )
        require(len(values) == p and plain, "its categories are not called by numbers or text")
        sizes = [len(each) for each in values]
        require(all(2 <= q <= MAX_CATEGORIES for q in sizes), f"columns do not have 2 to {MAX_CATEGORIES} categories")
        points = _cut(self.numbers("scores", (sum(sizes),)), [(q,) for q in sizes])
        return Variables(
            names=tuple(self.names),
            kinds=tuple(part["kinds"]),
            categories=tuple(map(tuple, values)),
            scores=tuple(
                None if kind == "nominal" else tuple(each.tolist())
                for kind, each in zip(part["kinds"], points, strict=True)
            ),
            named=bool(named),
        )

    def numbers(self, name: str, shape: tuple[int | None, ...], *, finite: bool = True) -> FloatArray:
        """Return an array of floats."""
        array = self.archive.array(name, "f8", shape)
        if finite:
            require(bool(np.isfinite(array).all()), f"{name} is not finite")
        return array

    def known(self, name: str, shape: tuple[int | None, ...]) -> FloatArray | None:
        """Return an array of floats that need not be there, and need not be finite."""
        return self.numbers(name, shape, finite=False) if self.archive.has(name) else None

    def network(self) -> Network:
        """Return the network by itself."""
        fields = self.numbers("fields", (self.n_fields,))
        return self._networks("", fields[None])[0]

    def _networks(self, prefix: str, fields: FloatArray) -> list[Network]:
        """Return networks with these fields, a row each; the edges and blocks of all are end to end."""
        values = self.numbers(f"{prefix}edge_values", (None,))
        bounds = self._bounds(f"{prefix}bounds", len(fields), len(values)) if prefix else np.array([0, len(values)])
        edges = self._edges(f"{prefix}edge_index", bounds)
        require(bool(values.all()), f"an edge of its {prefix}edge_values has the coupling 0")
        parts = [slice(a, b) for a, b in pairwise(bounds.tolist())]
        if self.variables.is_plain:
            entries, ends = values, bounds
        else:
            ends = np.concatenate([[0], np.cumsum(self.variables.block_sizes(edges))])[bounds]
            entries = self.numbers(f"{prefix}parameters", (int(ends[-1]),))
        blocks = [entries[a:b] for a, b in pairwise(ends.tolist())]
        return [
            Network(row, edges[part], values[part], variables=self.variables, parameters=block)
            for row, part, block in zip(fields, parts, blocks, strict=True)
        ]

    def sums(self, solution: Solution) -> tuple[Any, Any]:
        """Return the sums over rows: shares of values, and counts behind edges."""
        sizes = None if self.variables.is_binary else self.variables.sizes.tolist()
        marginals = self.numbers("marginals", (self.n_features if sizes is None else sum(sizes),))
        require(bool(((marginals >= 0.0) & (marginals <= 1.0 + 1e-12)).all()), "marginals are not in [0, 1]")
        shapes = [] if sizes is None else [(sizes[s], sizes[t]) for s, t in solution.edge_index.tolist()]
        shape = (solution.n_edges, 4) if sizes is None else (sum(map(math.prod, shapes)),)
        counts = self.archive.array("edge_counts", "i8|f8", shape)
        require(bool(np.isfinite(counts).all() and (counts >= 0).all()), "edge_counts are not counts")
        if sizes is None:
            return marginals, counts
        return tuple(self.variables.split(marginals)), _cut(counts, shapes)

    def solution(self) -> Solution:
        """Return the network with its certificate."""
        network = self.network()
        part = self._section("certificate", ("alpha", *SCALARS), COUNTS, ("converged",))
        require(isinstance(part["converged"], bool), "its certificate does not say whether it converged")
        per_node = self.known("alphas_per_node", (self.n_features,))
        require(part["alpha"] >= 0.0 or per_node is not None, "its alpha is not a number of at least 0")
        return Solution(network, alphas_per_node=per_node, **part)

    def path(self) -> Path:
        """Return the solutions along alpha."""
        part = self._section("path", ("tol",), ())
        alphas = self._grid("path.alpha")
        n = len(alphas)
        networks = self._networks("path.", self.numbers("path.fields", (n, self.n_fields)))
        columns = {name: self.numbers(f"path.{name}", (n,), finite=False).tolist() for name in SCALARS}
        columns |= {name: self.archive.array(f"path.{name}", "i8", (n,)).tolist() for name in COUNTS}
        columns |= {"alpha": alphas.tolist(), "converged": self.archive.array("path.converged", "b1", (n,)).tolist()}
        found = [{name: column[k] for name, column in columns.items()} for k in range(n)]
        return Path(tuple(Solution(network, **each) for network, each in zip(networks, found, strict=True)), **part)

    def stability(self) -> Stability:
        """Return what StARS found."""
        part = self._section("stability", STABILITY_NUMBERS, STABILITY_COUNTS)
        alphas = self._grid("stability.alphas")
        curves = [self.numbers(f"stability.{c}", alphas.shape, finite=False) for c in ("instability", "monotone")]
        shares = self.numbers("stability.shares", (None,))
        require(bool(((shares > 0.0) & (shares <= 1.0)).all()), "a share of subsamples is not in (0, 1]")
        bounds = self._bounds("stability.bounds", None, len(shares))
        require(0 <= part["index"] < len(bounds) - 1 <= len(alphas), "its choice is not on the grid")
        edges = self._edges("stability.edge_index", bounds)
        matrices = [symmetric_matrix(edges[a:b], shares[a:b], self.n_features) for a, b in pairwise(bounds.tolist())]
        return Stability(
            alphas=alphas, instability=curves[0], monotone=curves[1], edge_frequencies=tuple(matrices), **part
        )

    def evidence(self) -> Evidence:
        """Return the curve that a penalty was read from."""
        part = self._section("evidence", (), ("choice",), ("kind", "settings"))
        alphas = self.numbers("evidence.alphas", (None,))
        require(part["kind"] in ("ebic", "score"), "its evidence is of an unknown kind")
        require(isinstance(part["settings"], dict), "its evidence has no settings")
        require(0 <= part["choice"] < len(alphas), "its choice is not on the curve")
        values = self.numbers("evidence.values", alphas.shape, finite=False)
        return Evidence(alphas=alphas, values=values, errors=self.known("evidence.errors", alphas.shape), **part)

    def missing(self, n_edges: int) -> Missing:
        """Return where cells were missing, and what was done."""
        part = self._section("missing", ("noise",), MISSING_COUNTS, ("treatment",))
        require(part["treatment"] in ("impute", "zero", "drop"), "it treated missing cells in an unknown way")
        require(all(part[name] >= 0 for name in MISSING_COUNTS[:-1]), "a count of its missing cells is negative")
        p = self.n_features
        shapes = {"column_shares": p, "column_information": p, "edge_information": n_edges, "edge_noise": n_edges}
        found: dict[str, Any] = {name: self.known(f"missing.{name}", (size,)) for name, size in shapes.items()}
        for name in ("column_shares", "column_information", "edge_information"):
            if found[name] is not None:
                shares = found[name][~np.isnan(found[name])]
                require(bool(((shares >= 0.0) & (shares <= 1.0)).all()), f"missing.{name} is not a share")
        found["changes"] = self.known("missing.changes", (None,))
        if self.archive.has("missing.patterns"):
            found["pattern_counts"] = self.archive.array("missing.pattern_counts", "i8", (None,))
            found["patterns"] = self.archive.array("missing.patterns", "b1", (len(found["pattern_counts"]), p))
        return Missing(**part, **found)

    def stages(self) -> list[dict[str, Any]]:
        """Return what each stage of the default estimate chose."""
        stages = from_json(self.header.get("stages"))
        plain = (str, float, int)  # bool is an int
        whole = isinstance(stages, list) and all(
            isinstance(stage, dict) and all(isinstance(k, str) and isinstance(v, plain) for k, v in stage.items())
            for stage in stages
        )
        require(whole, "its stages are not plain values")
        return list(stages)

    def header_number(self, name: str) -> float:
        """Return a number of the header."""
        value = from_json(self.header.get(name))
        require(is_real(value), f"its {name} is not a number")
        return float(value)

    def _section(
        self, name: str, numbers: Sequence[str], counts: Sequence[str], others: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Return entries of an object of the header: numbers, whole numbers, and others that are to be checked."""
        raw = self.header.get(name)
        require(isinstance(raw, dict), f"its header has no {name}")
        part = {key: from_json((raw or {}).get(key)) for key in (*numbers, *counts, *others)}
        for key in numbers:
            require(is_real(part[key]), f"{name}.{key} is not a number")
            part[key] = float(part[key])
        for key in counts:
            require(is_whole(part[key]), f"{name}.{key} is not a whole number")
        return part

    def _grid(self, name: str) -> FloatArray:
        """Return decreasing alphas, no more than there is room for networks."""
        alphas = self.numbers(name, (None,))
        falls = len(alphas) > 0 and alphas[-1] >= 0.0 and bool((np.diff(alphas) < 0.0).all())
        require(falls, f"{name} does not decrease to a value of at least 0")
        self.archive.check_room(len(alphas), BYTES_PER_NETWORK, "networks along alpha")
        return alphas

    def _bounds(self, name: str, n: int | None, total: int) -> NDArray[np.int64]:
        """Return where each of n parts (or of any number) begins, and where the last one ends."""
        bounds = self.archive.array(name, "i8", (None if n is None else n + 1,))
        whole = len(bounds) and bounds[0] == 0 and bounds[-1] == total and bool((np.diff(bounds) >= 0).all())
        require(bool(whole), f"{name} does not divide {total} entries")
        return bounds

    def _edges(self, name: str, bounds: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return pairs s < t, sorted within each part."""
        edges = self.archive.array(name, "i4", (int(bounds[-1]), 2))
        s, t = edges.T
        require(bool(((s >= 0) & (s < t) & (t < self.n_features)).all()), f"{name} has a pair that is not there")
        steps = np.diff(pair_keys(edges, self.n_features))
        inner = np.ones(len(steps), dtype=bool)
        inner[[k - 1 for k in bounds[1:-1].tolist() if 0 < k <= len(steps)]] = False
        require(bool((steps > 0)[inner].all()), f"{name} is not in order")
        return edges


def require(condition: bool, otherwise: str) -> None:
    """Refuse a file in which something is not as it must be."""
    if not condition:
        raise DamagedError(otherwise)
