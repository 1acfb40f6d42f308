"""Fitted networks as files: `save` and `load`, without pickles.

A model file is an ``.npz`` archive. Its ``header.json`` holds the version of the layout, the class, the parameters, the
names, the certificate and the versions of the software; the arrays hold everything else.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from isinglass.archive import Archive, DamagedError, OversizedError, most_unpacked, write_archive
from isinglass.arguments import check_count
from isinglass.errors import DataError, LimitError, setting
from isinglass.export.modelparts import NotStorableError, Reading, Writing, from_json, to_json
from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.results import Solution, Stability
from isinglass.version import __version__

__all__ = ["load", "read_model", "save"]

FORMAT, SCHEMA = "isinglass model", 2
MAX_BYTES = 1 << 31
"""Default limit: 2 GiB."""
FRAMES = (None, "pandas", "polars", "pyarrow")
METHODS = ("joint", "nodewise", "exact", "plg", "bmn")
MAPPINGS = ("settings", "choice", "reading")


def save(fitted: Any, path: str | PathLike[str]) -> None:
    """Write a fitted estimator, a `Fit` or a `Network` to a file that `load` reads.

    The same content gives the same bytes. The file appears under its name when it is whole. Parameters that a file
    cannot hold, such as a generator as ``random_state`` or a splitter as ``cv``, are left out, and the header names
    them under ``not_stored``; `load` sets them to None. Values that ``encode="auto"`` found, or a BinaryTable brought
    along, must be numbers or text.

    Parameters
    ----------
    fitted : estimator, Fit or Network
        An estimator after `fit`, the record of a run, or the network by itself.
    path : path
        The file, usually ``something.npz``; one that exists is replaced.

    Examples
    --------
    >>> import tempfile
    >>> from isinglass import IsingLasso, load, save
    >>> net = IsingLasso(alpha=0.1).fit([[0, 0], [1, 1], [0, 0], [1, 1], [0, 1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(net, f"{folder}/net.npz")
    ...     again = load(f"{folder}/net.npz")
    >>> again, bool((again.couplings_ == net.couplings_).all())
    (IsingLasso(alpha=0.1), True)
    """
    writing = Writing({"format": FORMAT, "schema": SCHEMA, "class": type(fitted).__name__, "versions": _versions()})
    if isinstance(fitted, Network):
        writing.network(fitted)
    elif isinstance(fitted, Fit):
        _write_fit(fitted, writing)
    else:
        _require_fitted(fitted)
        _write_estimator(fitted, writing)
    write_archive(path, writing.header, writing.arrays)


def load(path: str | PathLike[str], *, max_bytes: int | None = None) -> Any:
    """Read what `save` wrote, and give back the same kind of object, with the same predictions to the bit.

    Nothing is unpickled, and everything is checked: a file that is truncated, damaged, of another kind or of a later
    layout gives one error. Still, a model file says what a network is, not that it is true: take it from people you
    trust.

    Parameters
    ----------
    path : path
        The file.
    max_bytes : int, optional
        Limit of what the file unpacks to. By default 2 GiB, or 25 times the size of the file or 256 MiB, if that is
        less.

    Returns
    -------
    estimator or Network

    Raises
    ------
    DataError
        If the file is not a model file, or not whole.
    LimitError
        If it is larger than ``max_bytes``.
    """
    if max_bytes is not None:
        check_count("max_bytes", max_bytes, most=None)
    file, shown = Path(path), os.fspath(path)
    if file.is_dir():
        raise DataError(f"{setting('path')} must be a model file; got the folder {shown!r}.")
    with file.open("rb") as stream:
        return read_model(stream, shown, max_bytes)


def read_model(stream: IO[bytes], shown: str, max_bytes: int | None = None) -> Any:
    """Read a model from an open file; ``shown`` is its name in messages."""
    size = stream.seek(0, os.SEEK_END)
    limit = most_unpacked(size, MAX_BYTES) if max_bytes is None else max_bytes
    try:
        if size > (max_bytes or MAX_BYTES):
            raise OversizedError(f"it has {size} bytes")
        archive = Archive(stream, limit)
        found = _read(archive)
        archive.refuse_rest()
        return found
    except OversizedError as error:
        raise LimitError(
            f"{setting('path')} must be a model file of at most {limit} bytes when unpacked; {shown!r}: "
            f"{error}. If you trust it, pass a larger {setting('max_bytes')}."
        ) from None
    except Exception as error:  # damaged archives raise whatever their bytes lead to
        reason = str(error) or type(error).__name__
        raise DataError(
            f"{setting('path')} must be a complete model file that isinglass wrote; {shown!r} cannot "
            f"be read ({reason[:200].rstrip('.')})."
        ) from error


# ----------------------------------------------------------------------------------------- writing


def _versions() -> dict[str, str]:
    return {"isinglass": __version__, "numpy": np.__version__, "python": platform.python_version()}


def _classes() -> dict[str, Any]:
    """Return the estimators by name; imported here, since scikit-learn is not needed for a network by itself."""
    from isinglass import estimators
    from isinglass.estimators.published import PublishedIsing

    return {name: getattr(estimators, name) for name in estimators.__all__} | {"PublishedIsing": PublishedIsing}


def _require_fitted(fitted: Any) -> None:
    name = type(fitted).__name__
    if _classes().get(name) is not type(fitted):
        inside = " Pass its best_estimator_." if hasattr(fitted, "best_estimator_") else ""
        inside = inside or (" Pass its last step." if hasattr(fitted, "steps") else "")
        raise DataError(f"fitted must be an estimator of isinglass or an Network; got {name}.{inside}")
    if not hasattr(fitted, "network_"):
        raise DataError(f"fitted must be fitted; got {name} before fit. Call fit first.")


def _write_estimator(net: Any, writing: Writing) -> None:
    not_stored = _write_parameters(net, writing)
    encoding = []
    for label, pair in net.encoding_.items():
        try:
            encoding.append(to_json([label, *pair]))
        except NotStorableError as error:
            if net._encoded_before or (isinstance(net.encode, str) and net.encode == "auto"):
                raise DataError(
                    f"fitted must have read numbers or text to be saved; got {error} in column {label!r}, which a file "
                    "cannot hold. Replace these values by text before fit."
                ) from None
            not_stored.append(f"encoding_[{label!r}]")
    writing.header |= {
        "not_stored": not_stored,
        "has_feature_names": hasattr(net, "feature_names_in_"),
        "frame": net._frame_kind,
        "encoded_before": net._encoded_before,
        "n_rows": net.n_rows_,
        "encoding": encoding,
    }
    writing.solution(net.solution_)
    writing.arrays |= {"marginals": net.marginals_, "edge_counts": net.edge_counts_}
    if hasattr(net, "path_"):
        writing.path(net.path_)
        writing.arrays["alphas"] = net.alphas_
    if hasattr(net, "stability_"):
        writing.stability(net.stability_)
    if hasattr(net, "ebic_path_"):
        writing.arrays["ebic"] = net.ebic_path_
    if hasattr(net, "cv_results_"):
        writing.search_results(net.cv_results_)
    if hasattr(net, "stages_"):
        writing.header["stages"] = to_json(net.stages_)
        writing.arrays |= {"edge_errors": net.edge_errors_, "held_out": net.held_out_}
    if hasattr(net, "tol_"):
        writing.header["tol"] = to_json(net.tol_)
    if hasattr(net, "asymmetric_couplings_"):
        writing.matrix("asymmetric", net.asymmetric_couplings_)


def _write_fit(fit: Fit, writing: Writing) -> None:
    plain = ("method", "settings", "criterion", "choice", "chosen", "tol", "n_rows", "reading", "stages")
    writing.header |= {name: to_json(getattr(fit, name)) for name in plain}
    writing.header["encoding"] = [to_json([label, *pair]) for label, pair in fit.encoding.items()]
    writing.solution(fit.solution)
    writing.arrays |= {"marginals": fit.marginals, "edge_counts": fit.edge_counts}
    if fit.path is not None:
        writing.path(fit.path)
    if fit.stability is not None:
        writing.stability(fit.stability)
    if fit.edge_errors is not None:
        writing.arrays["edge_errors"] = fit.edge_errors
    if fit.evidence is not None:
        writing.evidence(fit.evidence)


def _write_parameters(net: Any, writing: Writing) -> list[str]:
    """Put the parameters into the header, arrays beside it; return the names of those that cannot be stored."""
    parameters: dict[str, Any] = {}
    not_stored = []
    for name, value in net.get_params(deep=False).items():
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and value.ndim in (1, 2):
            writing.arrays[f"parameter.{name}"] = value.astype(np.float64)
            parameters[name] = {"array": value.ndim}
            continue
        try:
            parameters[name] = to_json(value)
        except NotStorableError:
            parameters[name] = None
            not_stored.append(name)
    writing.header["parameters"] = parameters
    return not_stored


# ----------------------------------------------------------------------------------------- reading


def _read(archive: Archive) -> Any:
    header = archive.header
    if header.get("format") != FORMAT:
        raise DamagedError("it is not a model file")
    if header.get("schema") == 1:
        raise DamagedError("it was written by isinglass 0.1, whose files can no longer be read: fit the table again")
    if header.get("schema") != SCHEMA:
        raise DamagedError(f"it has layout {header.get('schema')!r}, and this version of isinglass reads {SCHEMA}")
    n_features, names = header.get("n_features"), header.get("names")
    if not isinstance(n_features, int) or isinstance(n_features, bool) or n_features < 1:
        raise DamagedError("its number of columns is not a number")
    if not isinstance(names, list) or len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise DamagedError("its names are not one text per column")
    if len(set(names)) < len(names):
        raise DamagedError("two of its columns have one name")
    reading = Reading(archive, names)
    if header.get("class") == "Network":
        return reading.network()
    if header.get("class") == "Fit":
        return _read_fit(reading)
    cls = _classes().get(str(header.get("class")))
    if cls is None:
        raise DamagedError(f"it holds an unknown class, {str(header.get('class'))[:80]!r}")
    return _read_estimator(cls, reading, names)


def _read_estimator(cls: Any, reading: Reading, names: list[str]) -> Any:
    header, n_features = reading.header, reading.n_features
    net = cls(**_read_parameters(cls, reading))
    solution = reading.solution()
    n_rows, frame = header.get("n_rows"), header.get("frame")
    if not isinstance(n_rows, float | int) or isinstance(n_rows, bool) or not 0 < n_rows < float("inf"):
        raise DamagedError("its number of rows is not a positive number")
    if not (frame is None or isinstance(frame, str)) or frame not in FRAMES:
        raise DamagedError("its kind of data frame is unknown")
    marginals = reading.numbers("marginals", (n_features,))
    if ((marginals < 0.0) | (marginals > 1.0 + 1e-12)).any():
        raise DamagedError("marginals are not in [0, 1]")
    net.n_features_in_ = n_features
    if header.get("has_feature_names") is True:
        net.feature_names_in_ = np.array(names, dtype=object)
    net._remember_solution(
        solution,
        names,
        n_rows=float(n_rows),
        marginals=marginals,
        encoding=_read_encoding(header.get("encoding")),
        edge_counts=_read_counts(reading, solution.n_edges),
    )
    net._frame_kind = frame
    net._encoded_before = header.get("encoded_before") is True
    for name, value in _read_findings(cls, reading, solution).items():
        setattr(net, name, value)
    return net


def _read_fit(reading: Reading) -> Fit:
    header, archive, solution = reading.header, reading.archive, reading.solution()
    texts = {name: from_json(header.get(name)) for name in ("method", "criterion", "chosen", *MAPPINGS)}
    if texts["method"] not in METHODS or not isinstance(texts["chosen"], str):
        raise DamagedError("its method is unknown")
    if not all(isinstance(texts[name], dict) and all(isinstance(key, str) for key in texts[name]) for name in MAPPINGS):
        raise DamagedError("its settings are not named values")
    if not (texts["criterion"] is None or isinstance(texts["criterion"], str)):
        raise DamagedError("its criterion is not a text")
    return Fit(
        solution=solution,
        tol=reading.header_number("tol"),
        n_rows=reading.header_number("n_rows"),
        marginals=reading.numbers("marginals", (reading.n_features,)),
        edge_counts=_read_counts(reading, solution.n_edges),
        encoding=_read_encoding(header.get("encoding")),
        path=reading.path() if "path" in header else None,
        stability=reading.stability() if "stability" in header else None,
        evidence=reading.evidence() if "evidence" in header else None,
        stages=None if header.get("stages") is None else _plain_stages(reading),
        edge_errors=_read_errors(reading, solution.n_edges) if archive.has("edge_errors") else None,
        **texts,
    )


def _read_parameters(cls: Any, reading: Reading) -> dict[str, Any]:
    raw = reading.header.get("parameters")
    if not isinstance(raw, dict) or not raw.keys() <= set(cls().get_params(deep=False)):
        raise DamagedError(f"its parameters are not those of {cls.__name__}")
    parameters = {}
    for name, value in raw.items():
        if isinstance(value, dict) and value.keys() == {"array"} and value["array"] in (1, 2):
            shape = (None,) * value["array"]
            parameters[name] = reading.numbers(f"parameter.{name}", shape, finite=False)
        else:
            parameters[name] = from_json(value)
    return parameters


def _read_encoding(raw: Any) -> dict[Any, tuple[Any, Any]]:
    entries = from_json(raw)
    if not isinstance(entries, list) or not all(isinstance(e, list) and len(e) == 3 for e in entries):
        raise DamagedError("its encoding does not give two values per column")
    return {label: (zero, one) for label, zero, one in entries}


def _read_counts(reading: Reading, n_edges: int) -> NDArray[Any]:
    counts = reading.archive.array("edge_counts", "i8|f8", (n_edges, 4))
    if not (np.isfinite(counts).all() and (counts >= 0).all()):
        raise DamagedError("edge_counts are not counts")
    return counts


def _read_findings(cls: Any, reading: Reading, solution: Solution) -> dict[str, Any]:
    """Return what only some estimators have: the path and how the choice was made, or the regressions."""
    found: dict[str, Any] = {}
    if cls.__name__ == "PublishedIsing":
        if reading.header["parameters"].get("method") not in ("plg", "bmn"):
            raise DamagedError("its method is unknown")
        found["tol_"] = reading.header_number("tol")
    if cls.__name__ not in CRITERIA and "stability" in reading.header:  # alpha was chosen before the fit
        found["stability_"] = reading.stability()
    if cls.__name__ == "NodewiseIsing":
        found["asymmetric_couplings_"] = reading.matrix("asymmetric")
        if solution.alphas_per_node is not None:
            found["alphas_per_node_"] = solution.alphas_per_node
    elif cls.__name__ in CRITERIA:
        path = reading.path()
        alphas = reading.numbers("alphas", (None,))
        found |= {"path_": path, "alphas_": alphas}
        if alphas[: len(path)].tolist() != [point.alpha for point in path] or solution.alpha not in alphas:
            raise DamagedError("its path has other alphas than its grid")
        attribute, read = CRITERIA[cls.__name__]
        found[attribute] = read(reading, alphas)
    if cls.__name__ == "IsingNetwork":
        found |= _read_stages(reading, len(found["alphas_"]), solution.n_edges)
    return found


def _read_stages(reading: Reading, n_alphas: int, n_edges: int) -> dict[str, Any]:
    """Return what the stages of a network chose, the gains in prediction and the standard errors."""
    return {
        "stages_": _plain_stages(reading),
        "edge_errors_": _read_errors(reading, n_edges),
        "held_out_": reading.numbers("held_out", (n_alphas,), finite=False),
    }


def _plain_stages(reading: Reading) -> list[dict[str, Any]]:
    stages = from_json(reading.header.get("stages"))
    plain = (str, float, int)  # bool is an int
    if not isinstance(stages, list) or not all(
        isinstance(stage, dict)
        and all(isinstance(key, str) and isinstance(value, plain) for key, value in stage.items())
        for stage in stages
    ):
        raise DamagedError("its stages are not plain values")
    return stages


def _read_errors(reading: Reading, n_edges: int) -> NDArray[np.float64]:
    errors = reading.numbers("edge_errors", (n_edges,), finite=False)
    if (errors < 0.0).any():
        raise DamagedError("edge_errors are negative")
    return errors


def _read_ebic(reading: Reading, alphas: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the extended BIC of a path: infinite where the unpenalised estimate is, but never NaN."""
    values = reading.numbers("ebic", (len(alphas),), finite=False)
    if np.isnan(values).any():
        raise DamagedError("ebic is not a number")
    return values


def _read_stability(reading: Reading, alphas: NDArray[np.float64]) -> Stability:
    found = reading.stability()
    if found.alphas.tolist() != alphas.tolist():
        raise DamagedError("its instability belongs to other alphas")
    return found


CRITERIA: dict[str, tuple[str, Callable[[Reading, NDArray[np.float64]], Any]]] = {
    "IsingNetwork": ("ebic_path_", _read_ebic),
    "IsingLassoStARS": ("stability_", _read_stability),
    "IsingLassoEBIC": ("ebic_path_", _read_ebic),
    "IsingLassoCV": ("cv_results_", Reading.search_results),
}
"""The attribute that says how each of these chose its alpha, and how it is read."""
