"""Model files, and tables that belong to them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from isinglass.cli.console import Console
from isinglass.cli.descriptions import describe_table, shares_of
from isinglass.cli.estimate import METHODS
from isinglass.cli.reading import Reading, describe_coding, impute_holes
from isinglass.errors import ArgumentError, DataError
from isinglass.names import default_names

if TYPE_CHECKING:
    from isinglass.data import Table
    from isinglass.fit import Fit
    from isinglass.network import Network
    from isinglass.results import Path


@dataclass(frozen=True)
class Loaded:
    """What a model file holds."""

    fit: Fit | None  # what was found and asked; None where the file holds a network by itself
    model: Network  # the network by itself

    @classmethod
    def open(cls, path: str) -> Loaded:
        """Load a model file."""
        from isinglass.fit import Fit
        from isinglass.model_file import load
        from isinglass.network import as_network

        found = load(path)
        fit = getattr(found, "fit_", found)  # an estimator that was saved in Python
        return cls(fit if isinstance(fit, Fit) else None, as_network(found))

    @property
    def network(self) -> Any:
        """What pages and figures are made of."""
        return self.fit or self.model

    def place_nodes(self, seed: int, kept: Any = slice(None)) -> Any:
        """Return where the nodes lie on a drawing of all edges, or of some."""
        from isinglass.show.layout import force_layout

        network = self.model
        return force_layout(network.n_features, network.edge_index[kept], network.weights[kept], random_state=seed)

    def describe(self) -> dict[str, str]:
        """Say in words how the model was fitted."""
        fit = self.fit
        if fit is None:
            return {}
        alpha = fit.solution.alpha
        return {
            "Method": METHODS[fit.method.estimator],
            "Alpha": f"{alpha:.6g}" if math.isfinite(alpha) else "one per node",
            **({"Rule": fit.method.rule} if fit.method.estimator == "nodewise" else {}),
            "Tolerance": f"{fit.tol:g}",
            **(describe_coding(fit.coding) or {"Values": "0 and 1"}),
        }

    @property
    def can_follow(self) -> bool:
        """Whether it was fitted at one alpha, and a path through it can be made."""
        return self.fit is not None and self.fit.path is None and math.isfinite(self.fit.solution.alpha)

    def follow(self, data: Table, alphas: int | list[float]) -> Path:
        """Return the path that the model lies on."""
        assert self.fit is not None
        return self.fit.method.path(data, alphas)

    def recall(self, reading: Reading, *, missing: str | None = None) -> Reading:
        """Return how a table of this model is read: as that of the fit was, unless the user says something else.

        ``missing`` is what holds in place of what the fit did with missing cells.
        """
        known = dict(self.fit.reading) if self.fit is not None else {}
        if missing is not None:
            known["missing"] = missing
        if known.get("weights") in reading.said.get("drop", ()):
            del known["weights"]
        kinds = () if self.model.variables.is_binary else self.model.kinds
        if self.fit is None:
            known["kinds"] = dict(zip(self.model.names, kinds, strict=True)) if kinds else None
        elif kinds:
            known["encode"] = self.fit.coding
            known.pop("kinds", None)
            known.pop("binarize", None)
        elif "binarize" not in known:
            known["encode"] = dict(self.fit.encoding) or None
        names = self.source_names
        if names != default_names(len(names)) and "transpose" not in {**known, **reading.said}:
            known["columns"] = names  # others are ignored, whatever they hold
            known.pop("drop", None)
        return reading.with_defaults(**known)

    @property
    def source_names(self) -> tuple[str, ...]:
        """The columns of a table of this model, indicator columns as such."""
        if self.fit is None or self.fit.coding.names is None:
            return self.model.names
        return self.fit.coding.expand().names or ()

    def read_table(self, console: Console, reading: Reading, table: str) -> Table:
        """Read a table that has the columns of the model, in any order, and any others."""
        try:
            return self._in_order(reading.read(console, table))
        except DataError as error:
            if reading.said.get("columns") != self.source_names:
                raise
            if isinstance(error, ArgumentError) and error.argument == "columns":  # which the user did not name
                error = DataError(f"The table has no column {error.got}, which the model has.")
            if table == "-":
                raise error from None
            # Perhaps it has no names: then its columns must be those of the model, in the same order.
            try:
                data = reading.replaced(columns=None).read(console, table)
            except DataError:
                data = None
            if data is None or data.variables.named:
                raise error from None
            return self._in_order(data)

    def read_completed(self, console: Console, reading: Reading, table: str) -> Table:
        """Read a table as `read_table` does and impute it as the fit did: the same cells from the same seed."""
        return impute_holes(console, self.read_table(console, reading, table))[0]

    def check_fitted_to(self, data: Table) -> None:
        """Refuse another table than the one that was fitted, as far as the model knows: its rows and its ones."""
        import numpy as np

        if self.fit is None:
            return
        fitted, here = self.fit.n_rows, describe_table(data)["effective_rows"]
        before, now = self.fit.shares, shares_of(data)
        worst = int(np.abs(now - before)[::-1].argmax())  # of two values, the second
        worst = len(now) - 1 - worst
        if not np.isclose(fitted, here, rtol=1e-9):
            difference = f"its rows counted {fitted:.6g} in all, and these count {here:.6g}"
        elif not np.isclose(now[worst], before[worst], rtol=0, atol=1e-9):
            what = "ones" if self.model.variables.is_binary else "of a category"
            shares = f"{before[worst]:.2%} {what} in the fit, {now[worst]:.2%} here"
            difference = f"{self.model.names[self.model.variables.column[worst]]!r} has {shares}"
        else:
            return
        remedy = "Read it with the options of the fit, such as --weights, --missing or --drop."
        raise DataError(f"This is not the table that the model was fitted to: {difference}. {remedy}")

    def _in_order(self, data: Table) -> Table:
        """Return the columns in the order of the model; a table without names must have it already."""
        names = self.model.names
        if not data.variables.named or data.names == names:
            if data.shape[1] != len(names):
                raise DataError(f"The table has {data.shape[1]} columns, and the model has {len(names)}.")
            return data
        place = {name: k for k, name in enumerate(data.names)}
        absent = [name for name in names if name not in place]
        if absent:
            more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
            raise DataError(f"The table lacks columns of the model: {absent[0]!r}{more}.")
        if len(place) > len(names):
            other = next(name for name in data.names if name not in set(names))
            raise DataError(f"The table has a column that the model lacks: {other!r}. Leave it out with --drop.")
        order = [place[name] for name in names]
        return data.take(order)
