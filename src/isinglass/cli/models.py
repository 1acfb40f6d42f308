"""Model files, and tables that belong to them."""

from __future__ import annotations

import functools
import inspect
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from isinglass.cli.options import MODEL_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from isinglass.cli.console import Console
    from isinglass.cli.reading import Reading
    from isinglass.data import BinaryTable
    from isinglass.network import Network
    from isinglass.results import Path
    from isinglass.select.contract import PathFunction

__all__ = ["MODEL", "SAME_OPTIONS", "Loaded"]

NOT_SETTINGS = {"alphas", "alpha_min_ratio"}

MODEL = click.Argument(["model"], type=MODEL_FILE)
SAME_OPTIONS = "Read it with the options of the fit: --weights, --missing, --drop and the like."


@dataclass(frozen=True)
class Loaded:
    """What a model file holds.

    Parameters
    ----------
    network : fitted estimator or Network
        What was saved.
    model : Network
        The network by itself.
    """

    network: Any
    model: Network

    @classmethod
    def open(cls, path: str) -> Loaded:
        """Load a model file."""
        from isinglass.export.modelfile import load

        network = load(path)
        return cls(network, getattr(network, "network_", network))

    def place_nodes(self, seed: int) -> Any:
        """Return where the nodes lie on a drawing."""
        from isinglass.show.layout import force_layout

        network = self.model
        return force_layout(network.n_features, network.edge_index, network.weights, random_state=seed)

    @property
    def edge_attributes(self) -> dict[str, Any]:
        """What is known of the edges beside their couplings."""
        from isinglass.cli.fitting import edge_attributes

        return edge_attributes(self.network)

    @property
    def path_function(self) -> PathFunction:
        """The path function that the fit used, with its settings."""
        from isinglass.solve.exact import exact_path
        from isinglass.solve.nodewise import nodewise_path
        from isinglass.solve.path import ising_path

        kind = type(self.network).__name__
        if kind == "PublishedIsing":
            return self.network.path_function  # type: ignore[no-any-return]
        functions: dict[str, PathFunction] = {"NodewiseIsing": nodewise_path, "ExactIsing": exact_path}
        function = functions.get(kind, ising_path)
        known = inspect.signature(function).parameters
        settings = {name: value for name, value in self.network.get_params().items() if name in known}
        return functools.partial(function, **{name: settings[name] for name in settings.keys() - NOT_SETTINGS})

    def describe(self, known: Mapping[str, str]) -> dict[str, str]:
        """Say in words how the model was fitted, as far as it is not known already."""
        from isinglass.cli.info import describe_values
        from isinglass.cli.methods import METHODS

        net = self.network
        if not hasattr(net, "solution_"):
            return {}
        name = {"NodewiseIsing": "nodewise", "ExactIsing": "exact"}.get(type(net).__name__, "joint")
        name = getattr(net, "method", name)
        facts = {
            "Method": METHODS[name][3],
            "Alpha": f"{net.alpha_:.6g}" if math.isfinite(net.alpha_) else "one per node",
            **({"Rule": net.rule} if name == "nodewise" else {}),
            "Tolerance": f"{getattr(net, 'tol_', net.tol):g}",
            "Values": describe_values(net.encoding_) if net.encoding_ else "0 and 1",
        }
        return {name: fact for name, fact in facts.items() if name not in known}

    @property
    def can_follow(self) -> bool:
        """Whether it was fitted at one alpha, so that a path of it can be made."""
        alpha = getattr(self.network, "alpha_", float("nan"))
        return alpha == alpha and not hasattr(self.network, "path_")  # NaN: every node has its own

    def follow(self, data: BinaryTable, alphas: int | list[float]) -> Path:
        """Return the path that the model lies on."""
        return self.path_function(data.X, alphas, sample_weight=data.sample_weight)

    def read_table(self, console: Console, reading: Reading, table: str, *, missing: str = "error") -> BinaryTable:
        """Read a table that has the columns of the model, in any order.

        Answers mean what they meant in the table that was fitted, unless the user says something else.
        """
        known = getattr(self.network, "encoding_", None) or None
        return self._in_order(reading.read(console, table, missing=missing, encode=known))

    def check_fitted_to(self, data: BinaryTable, remedy: str) -> None:
        """Refuse another table than the one that was fitted, as far as the model knows: its rows and its ones."""
        import numpy as np

        from isinglass.cli.results import describe_table
        from isinglass.errors import DataError

        if not hasattr(self.network, "marginals_"):
            return
        fitted, here = float(self.network.n_rows_), describe_table(data)["sum_of_weights"]
        means = np.average(data.X, axis=0, weights=data.sample_weight)
        worst = int(np.abs(means - self.network.marginals_).argmax())
        if not np.isclose(fitted, here, rtol=1e-9):
            difference = f"its rows counted {fitted:.6g} in all, and these count {here:.6g}"
        elif not np.isclose(means[worst], self.network.marginals_[worst], rtol=0, atol=1e-9):
            shares = f"{self.network.marginals_[worst]:.2%} ones in the fit, {means[worst]:.2%} here"
            difference = f"{self.model.names[worst]!r} has {shares}"
        else:
            return
        raise DataError(f"TABLE must be the table that MODEL was fitted to; {difference}. {remedy}")

    def _in_order(self, data: BinaryTable) -> BinaryTable:
        """Return the columns in the order of the model; a table without names must have it already."""
        from isinglass.errors import DataError

        names = self.model.names
        if data.names is None or data.names == names:
            if data.shape[1] != len(names):
                raise DataError(f"The table must have the {len(names)} columns of the model; got {data.shape[1]}.")
            return data
        place = {name: k for k, name in enumerate(data.names)}
        absent = [name for name in names if name not in place]
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise DataError(f"The table must have the columns of the model; {absent[0]!r}{more} cannot be found in it.")
        if len(place) > len(names):
            other = next(name for name in data.names if name not in set(names))
            raise DataError(f"The table must have no other columns than the model; got {other!r}. Use --drop.")
        order = [place[name] for name in names]
        filled = None if data.filled is None else data.filled[:, order]
        return replace(data, X=data.X[:, order], names=tuple(names), filled=filled)
