"""Records as JSON and arrays, for the files that hold them, and the checks on the way back."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from os import PathLike, fspath
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from isinglass.archive import Archive, DamagedError
from isinglass.arrays import FloatArray
from isinglass.categories import CategoryNetwork
from isinglass.data.coding import KINDS
from isinglass.errors import DataError
from isinglass.network import Network
from isinglass.pairs import pair_keys, symmetric_matrix
from isinglass.results import Evidence, Missing, Path, Solution, Stability
from isinglass.variables import Variables, cut_tables, flat_blocks, join_arrays

Arrays = dict[str, NDArray[Any]]

SCALARS = ("objective", "kkt_residual", "duality_gap")
COUNTS = ("certified_zeros", "n_iter", "n_screened")
STABILITY_NUMBERS = ("alpha", "threshold", "dense_end")
STABILITY_COUNTS = ("index", "subsample_size", "n_subsamples", "n_extensions", "n_fits", "n_fits_saved", "n_constant")
MISSING_COUNTS = ("n_rows", "n_cells", "n_left_out", "n_holed", "n_patterns", "n_imputations", "settled")
BYTES_PER_NETWORK = 1 << 13
"""What one of very many small networks counts for when a file is read: memory, and the time it takes to make it."""
_WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


# ----------------------------------------------------------------------------------------- values in the header


class NotStorableError(Exception):
    """A value that JSON cannot hold, such as a generator or a splitter."""


def to_json(value: Any) -> Any:
    """Return a value in the form it has in the header: tuples, mappings and odd floats say what they are.

    Examples
    --------
    >>> to_json({"Yes": 1, None: (0, float("inf"))})
    {'mapping': [['Yes', 1], [None, {'tuple': [0, {'float': 'inf'}]}]]}
    """
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
    """Return what `to_json` was given.

    Examples
    --------
    >>> from_json({"mapping": [["Yes", 1], [None, {"tuple": [0, {"float": "inf"}]}]]})
    {'Yes': 1, None: (0, inf)}
    """
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


# ----------------------------------------------------------------------------------------- records out


class Writing:
    """Header and arrays of a file that is being put together."""

    def __init__(self, header: dict[str, Any]) -> None:
        self.header = header
        self.arrays: Arrays = {}

    def network(self, network: Network) -> None:
        """Take names, fields and edges; of columns with categories, what these are, and the blocks."""
        self.header |= {"names": list(network.names), "n_features": network.n_features}
        self.arrays |= {name: getattr(network, name) for name in ("edge_index", "edge_values")}
        if not isinstance(network, CategoryNetwork):
            self.arrays["fields"] = network.fields
            return
        try:
            labels = None if network.categories is None else [to_json(list(values)) for values in network.categories]
        except NotStorableError as error:
            raise DataError(
                f"categories must be called by numbers or text to be saved; got {error}. Replace them by text first."
            ) from None
        self.header["categories"] = {"kinds": list(network.kinds), "labels": labels}
        self.arrays |= {
            "n_categories": network.n_categories.astype(np.int64),
            "category_fields": np.concatenate(network.category_fields),
            "scores": join_arrays(score for score in network.scores if score is not None),
            "blocks": flat_blocks(network),
        }

    def sums(self, marginals: Any, edge_counts: Any) -> None:
        """Take the sums over rows."""
        if isinstance(marginals, tuple):
            marginals = np.concatenate(marginals)
            edge_counts = join_arrays((table.ravel() for table in edge_counts), np.int64)
        self.arrays |= {"marginals": marginals, "edge_counts": edge_counts}

    def solution(self, solution: Solution) -> None:
        """Take a network with its certificate."""
        self.network(solution.network)
        names = ("alpha", *SCALARS, *COUNTS, "converged")
        self.header["certificate"] = {name: to_json(getattr(solution, name)) for name in names}
        if solution.alphas_per_node is not None:
            self.arrays["alphas_per_node"] = solution.alphas_per_node

    def path(self, path: Path) -> None:
        """Take all solutions of a path, their edges one alpha after the other."""
        self.header["path"] = {"tol": to_json(float(path.tol))}
        self.arrays |= {f"path.{name}": np.array([getattr(s, name) for s in path]) for name in ("alpha", *SCALARS)}
        self.arrays |= {f"path.{name}": np.array([getattr(s, name) for s in path], np.int64) for name in COUNTS}
        self.arrays |= {
            "path.converged": np.array([s.converged for s in path], dtype=bool),
            "path.bounds": np.cumsum([0, *(s.n_edges for s in path)], dtype=np.int64),
            "path.edge_index": np.concatenate([s.edge_index for s in path]),
            "path.edge_values": np.concatenate([s.edge_values for s in path]),
        }
        networks = [s.network for s in path if isinstance(s.network, CategoryNetwork)]
        if networks:
            self.arrays["path.fields"] = np.array([np.concatenate(network.category_fields) for network in networks])
            self.arrays["path.blocks"] = join_arrays(flat_blocks(network) for network in networks)
        else:
            self.arrays["path.fields"] = np.array([s.fields for s in path])

    def stability(self, stability: Stability) -> None:
        """Take what StARS found; of the shares of every alpha the upper triangle."""
        names = (*STABILITY_NUMBERS, *STABILITY_COUNTS)
        self.header["stability"] = {name: to_json(getattr(stability, name)) for name in names}
        upper = [sp.triu(shares, 1, format="csr").tocoo() for shares in stability.edge_frequencies]
        self.arrays |= {
            "stability.alphas": stability.alphas,
            "stability.instability": stability.instability,
            "stability.monotone": stability.monotone,
            "stability.bounds": np.cumsum([0, *(part.nnz for part in upper)], dtype=np.int64),
            "stability.edge_index": np.concatenate([np.column_stack([u.row, u.col]) for u in upper]).astype(np.int32),
            "stability.shares": np.concatenate([part.data for part in upper]),
        }

    def evidence(self, evidence: Evidence) -> None:
        """Take the curve that a penalty was read from."""
        names = ("kind", "choice", "settings")
        self.header["evidence"] = {name: to_json(getattr(evidence, name)) for name in names}
        self.arrays |= {"evidence.alphas": evidence.alphas, "evidence.values": evidence.values}
        if evidence.errors is not None:
            self.arrays["evidence.errors"] = evidence.errors

    def missing(self, missing: Missing) -> None:
        """Take where cells were missing, and what was done."""
        names = ("treatment", "noise", *MISSING_COUNTS)
        self.header["missing"] = {name: to_json(getattr(missing, name)) for name in names}
        arrays = {name: value for name, value in vars(missing).items() if isinstance(value, np.ndarray)}
        self.arrays |= {f"missing.{name}": value for name, value in arrays.items()}


# ----------------------------------------------------------------------------------------- records in


class Reading:
    """Records of a file, checked: whatever passes here is a network that `save` could have written."""

    def __init__(self, archive: Archive, names: Sequence[str]) -> None:
        self.archive, self.header, self.names, self.n_features = archive, archive.header, names, len(names)
        self.variables = self._variables() if "categories" in archive.header else None

    def numbers(self, name: str, shape: tuple[int | None, ...], *, finite: bool = True) -> FloatArray:
        """Return an array of floats."""
        array = self.archive.array(name, "f8", shape)
        if finite:
            _require(bool(np.isfinite(array).all()), f"{name} is not finite")
        return array

    def network(self) -> Network:
        """Return the network by itself."""
        fields = self.numbers("fields" if self.variables is None else "category_fields", (self.n_fields,))
        values = self.numbers("edge_values", (None,))
        edges = self._edges("edge_index", np.array([0, len(values)]))
        _require(bool(values.all()), "an edge has the coupling 0")
        if self.variables is None:
            return Network(fields, edges, values, self.names)
        blocks = self.numbers("blocks", (None,))
        network, used = self.variables.network(fields, edges, values, blocks, self.names)
        _require(used == len(blocks), "its blocks are not those of its edges")
        return network

    @property
    def n_fields(self) -> int:
        """Number of fields of a network: one per column, or one per category."""
        return self.n_features if self.variables is None else sum(self.variables.sizes)

    def _variables(self) -> Variables:
        """Return what the columns of a network with categories are."""
        part, p = self.header["categories"], self.n_features
        _require(isinstance(part, dict) and isinstance(part.get("kinds"), list), "its categories have no kinds")
        kinds, labels = part["kinds"], part.get("labels")
        _require(len(kinds) == p and all(kind in KINDS for kind in kinds), "its kinds are not one word per column")
        sizes = self.archive.array("n_categories", "i8", (p,)).tolist()
        _require(all(2 <= q <= 256 for q in sizes), "its columns do not have 2 to 256 categories")
        points = self.numbers("scores", (sum(q for q, kind in zip(sizes, kinds, strict=True) if kind != "nominal"),))
        words = None if labels is None else [from_json(values) for values in labels]
        plain = str | int | float | None
        _require(
            words is None
            or (
                [len(values) for values in words if isinstance(values, list)] == sizes
                and all(isinstance(value, plain) for values in words for value in values)
            ),
            "its categories are not called by numbers or text",
        )
        return Variables(kinds, sizes, points, words)

    def sums(self, solution: Solution) -> tuple[Any, Any]:
        """Return the sums over rows: shares of values, and counts behind edges."""
        marginals = self.numbers("marginals", (self.n_fields,))
        _require(bool(((marginals >= 0.0) & (marginals <= 1.0 + 1e-12)).all()), "marginals are not in [0, 1]")
        if self.variables is None:
            counts = self.archive.array("edge_counts", "i8|f8", (solution.n_edges, 4))
        else:
            shapes = [tuple(self.variables.sizes[node] for node in pair) for pair in solution.edge_index.tolist()]
            counts = self.archive.array("edge_counts", "i8|f8", (sum(math.prod(shape) for shape in shapes),))
        _require(bool(np.isfinite(counts).all() and (counts >= 0).all()), "edge_counts are not counts")
        if self.variables is None:
            return marginals, counts
        return self.variables.split(marginals), cut_tables(counts, shapes)

    def solution(self) -> Solution:
        """Return the network with its certificate."""
        network = self.network()
        part = self._section("certificate", ("alpha", *SCALARS), COUNTS)
        _require(isinstance(part.get("converged"), bool), "its certificate does not say whether it converged")
        per_node = None
        if self.archive.has("alphas_per_node"):
            per_node = self.numbers("alphas_per_node", (self.n_features,), finite=False)
        _require(part["alpha"] >= 0.0 or per_node is not None, "its alpha is not a number of at least 0")
        return Solution(
            network,
            converged=part["converged"],
            alphas_per_node=per_node,
            **{name: part[name] for name in ("alpha", *SCALARS, *COUNTS)},
        )

    def path(self) -> Path:
        """Return the solutions along alpha."""
        part = self._section("path", ("tol",), ())
        alphas = self.numbers("path.alpha", (None,))
        _require_decreasing("path.alpha", alphas)
        self.archive.check_room(len(alphas), BYTES_PER_NETWORK, "networks along alpha")
        n = len(alphas)
        fields, values = self.numbers("path.fields", (n, self.n_fields)), self.numbers("path.edge_values", (None,))
        bounds = self._bounds("path.bounds", n, len(values))
        edges = self._edges("path.edge_index", bounds)
        _require(bool(values.all()), "an edge of its path has the coupling 0")
        columns = {name: self.numbers(f"path.{name}", (n,), finite=False).tolist() for name in SCALARS}
        columns |= {name: self.archive.array(f"path.{name}", "i8", (n,)).tolist() for name in COUNTS}
        columns["converged"] = self.archive.array("path.converged", "b1", (n,)).tolist()
        blocks = np.empty(0) if self.variables is None else self.numbers("path.blocks", (None,))
        networks: list[Network] = []
        for k, (a, b) in enumerate(pairwise(bounds.tolist())):
            if self.variables is None:
                networks.append(Network(fields[k], edges[a:b], values[a:b], self.names))
                continue
            found, used = self.variables.network(fields[k], edges[a:b], values[a:b], blocks, self.names)
            blocks = blocks[used:]
            networks.append(found)
        _require(not len(blocks), "its blocks are not those of the edges of its path")
        solutions = [
            Solution(
                networks[k],
                alpha=alpha,
                **{name: column[k] for name, column in columns.items()},
            )
            for k, alpha in enumerate(alphas.tolist())
        ]
        return Path(tuple(solutions), tol=part["tol"])

    def stability(self) -> Stability:
        """Return what StARS found."""
        part = self._section("stability", STABILITY_NUMBERS, STABILITY_COUNTS)
        alphas = self.numbers("stability.alphas", (None,))
        _require_decreasing("stability.alphas", alphas)
        self.archive.check_room(len(alphas), BYTES_PER_NETWORK, "networks of shares")
        curves = [self.numbers(f"stability.{c}", alphas.shape, finite=False) for c in ("instability", "monotone")]
        shares = self.numbers("stability.shares", (None,))
        _require(bool(((shares > 0.0) & (shares <= 1.0)).all()), "a share of subsamples is not in (0, 1]")
        bounds = self._bounds("stability.bounds", None, len(shares))
        _require(0 <= part["index"] < len(bounds) - 1 <= len(alphas), "its choice is not on the grid")
        edges = self._edges("stability.edge_index", bounds)
        matrices = [symmetric_matrix(edges[a:b], shares[a:b], self.n_features) for a, b in pairwise(bounds.tolist())]
        return Stability(
            alphas=alphas,
            instability=curves[0],
            monotone=curves[1],
            edge_frequencies=tuple(matrices),
            **{name: part[name] for name in (*STABILITY_NUMBERS, *STABILITY_COUNTS)},
        )

    def evidence(self) -> Evidence:
        """Return the curve that a penalty was read from."""
        part = self._section("evidence", (), ("choice",))
        alphas = self.numbers("evidence.alphas", (None,))
        _require(part.get("kind") in ("ebic", "score"), "its evidence is of an unknown kind")
        _require(isinstance(part.get("settings"), dict), "its evidence has no settings")
        _require(0 <= part["choice"] < len(alphas), "its choice is not on the curve")
        errors = self.archive.has("evidence.errors")
        return Evidence(
            kind=part["kind"],
            alphas=alphas,
            values=self.numbers("evidence.values", alphas.shape, finite=False),
            choice=part["choice"],
            errors=self.numbers("evidence.errors", alphas.shape, finite=False) if errors else None,
            settings=part["settings"],
        )

    def missing(self, n_edges: int) -> Missing:
        """Return where cells were missing, and what was done."""
        part = self._section("missing", ("noise",), MISSING_COUNTS)
        _require(part.get("treatment") in ("impute", "zero", "drop"), "it treated missing cells in an unknown way")
        _require(all(part[name] >= 0 for name in MISSING_COUNTS[:-1]), "a count of its missing cells is negative")
        p = self.n_features
        shapes = {"column_shares": p, "column_information": p, "edge_information": n_edges, "edge_noise": n_edges}
        found: dict[str, Any] = {
            name: self.numbers(f"missing.{name}", (size,), finite=False)
            for name, size in {**shapes, "changes": None}.items()
            if self.archive.has(f"missing.{name}")
        }
        for name in [name for name in found if name.endswith(("shares", "information"))]:
            known = found[name][~np.isnan(found[name])]
            _require(bool(((known >= 0.0) & (known <= 1.0)).all()), f"missing.{name} is not a share")
        if self.archive.has("missing.patterns"):
            found["pattern_counts"] = self.archive.array("missing.pattern_counts", "i8", (None,))
            found["patterns"] = self.archive.array("missing.patterns", "b1", (len(found["pattern_counts"]), p))
        return Missing(**{name: part[name] for name in ("treatment", "noise", *MISSING_COUNTS)}, **found)

    def stages(self) -> list[dict[str, Any]]:
        """Return what each stage of the default estimate chose."""
        stages = from_json(self.header.get("stages"))
        plain = (str, float, int)  # bool is an int
        whole = isinstance(stages, list) and all(
            isinstance(stage, dict) and all(isinstance(k, str) and isinstance(v, plain) for k, v in stage.items())
            for stage in stages
        )
        _require(whole, "its stages are not plain values")
        return list(stages)

    def header_number(self, name: str) -> float:
        """Return a number of the header."""
        value = from_json(self.header.get(name))
        _require(isinstance(value, float | int) and not isinstance(value, bool), f"its {name} is not a number")
        return float(value)

    def _section(self, name: str, numbers: Sequence[str], counts: Sequence[str]) -> dict[str, Any]:
        """Return an object of the header whose entries are numbers and whole numbers."""
        raw = self.header.get(name)
        _require(isinstance(raw, dict), f"its header has no {name}")
        part: dict[str, Any] = {key: from_json(value) for key, value in (raw or {}).items()}
        for key in numbers:
            value: Any = part.get(key)
            _require(isinstance(value, float | int) and not isinstance(value, bool), f"{name}.{key} is not a number")
            part[key] = float(value)
        for key in counts:
            value = part.get(key)
            _require(isinstance(value, int) and not isinstance(value, bool), f"{name}.{key} is not a whole number")
        return part

    def _bounds(self, name: str, n: int | None, total: int) -> NDArray[np.int64]:
        """Return where each of n parts (or of any number) begins, and where the last one ends."""
        bounds = self.archive.array(name, "i8", (None if n is None else n + 1,))
        whole = len(bounds) and bounds[0] == 0 and bounds[-1] == total and bool((np.diff(bounds) >= 0).all())
        _require(bool(whole), f"{name} does not divide {total} entries")
        return bounds

    def _edges(self, name: str, bounds: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return pairs s < t, sorted within each part."""
        edges = self.archive.array(name, "i4", (int(bounds[-1]), 2))
        s, t = edges.T
        _require(bool(((s >= 0) & (s < t) & (t < self.n_features)).all()), f"{name} has a pair that is not there")
        steps = np.diff(pair_keys(edges, self.n_features))
        inner = np.ones(len(steps), dtype=bool)
        inner[[k - 1 for k in bounds[1:-1].tolist() if 0 < k <= len(steps)]] = False
        _require(bool((steps > 0)[inner].all()), f"{name} is not in order")
        return edges


def _require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise DamagedError(otherwise)


def _require_decreasing(name: str, alphas: FloatArray) -> None:
    positive = len(alphas) > 0 and alphas[-1] >= 0.0
    _require(positive and bool((np.diff(alphas) < 0.0).all()), f"{name} does not decrease to a value of at least 0")
