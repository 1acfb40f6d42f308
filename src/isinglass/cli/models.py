"""Model files, and the tables, resamples and attributes of nodes that belong to them."""

from __future__ import annotations

import csv
import io
import math
import pathlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from isinglass.cli.console import Console
from isinglass.cli.descriptions import METHODS, describe_coding
from isinglass.cli.settings import Reading
from isinglass.errors import DataError, DataWarning, suppress_warnings

if TYPE_CHECKING:
    from isinglass.arrays import Mask
    from isinglass.data import Coding, Table
    from isinglass.fit import Fit
    from isinglass.network import Network
    from isinglass.results import Path
    from isinglass.select import Bootstrap
    from isinglass.variables import Variables

RESAMPLES = {"rows": "resamples.npz", "case-drop": "case_drop.npz"}
"""Files that `bootstrap` writes for `plot` and `report`, by kind."""
SAME_COUPLING = 1e-3
"""Difference of couplings up to which two fits of one table are the same."""
WORDING = "wording"  # the attribute with the wording of items, for the report; it gives no colors


@dataclass(frozen=True)
class Loaded:
    """What a model file holds."""

    fit: Fit | None  # None where the file holds a network by itself
    network: Network

    @classmethod
    def open(cls, path: str) -> Loaded:
        """Load a model file."""
        from isinglass.fit import Fit
        from isinglass.model_file import load
        from isinglass.results import as_network

        record = load(path)
        try:
            return cls(record if isinstance(record, Fit) else None, as_network(record))
        except DataError:
            what = f"a network, as the model.npz of `isinglass fit` does; got the record {type(record).__name__}"
            raise DataError(f"{path!r} must hold {what}.") from None

    @property
    def result(self) -> Fit | Network:
        """What pages are made of: the fit, or the network where there is none."""
        return self.fit or self.network

    @property
    def occurs(self) -> Mask | None:
        """Which categories occur in the table of the fit; None where there is no fit."""
        return None if self.fit is None else self.fit.occurs

    @property
    def coding(self) -> Coding:
        """How the table of the fit was read; the categories of the network where there is no fit."""
        from isinglass.data.meaning.coding import Coding

        return Coding.of(self.network.variables) if self.fit is None else self.fit.coding

    def describe(self) -> dict[str, str]:
        """Say in words how the model was fitted."""
        if self.fit is None:
            return {}
        values = describe_coding(self.fit.coding) or {"Values": "0 and 1"}
        return {"Method": METHODS[self.fit.method.estimator], "Penalty": self.fit.facts()["Penalty"], **values}

    @property
    def alpha(self) -> float | None:
        """The penalty of the fit."""
        return None if self.fit is None else self.fit.solution.alpha

    @property
    def can_follow(self) -> bool:
        """Whether it was fitted at one alpha, and a path through it can be made."""
        return self.fit is not None and self.fit.selection.path is None and math.isfinite(self.fit.solution.alpha)

    def follow(self, data: Table, alphas: int) -> Path:
        """Return the path that the model lies on."""
        from isinglass.select.task import Task

        assert self.fit is not None
        return Task(data, self.fit.method.paths).path(alphas)

    def resamples(self, folder: pathlib.Path | None, kind: str = "rows") -> Bootstrap:
        """Return the resamples that `isinglass bootstrap` wrote, if they are about the same network."""
        import numpy as np

        from isinglass.model_file import load
        from isinglass.select import Bootstrap

        maker = f"`isinglass bootstrap TABLE --kind {kind} -o FOLDER`"
        if folder is None:
            raise click.UsageError(f"This figure needs --bootstrap FOLDER, which {maker} writes.")
        file = folder / RESAMPLES[kind]
        if not file.exists():
            problem = f"{str(folder)!r} has no {file.name}, which {maker} writes."
            raise click.BadParameter(problem, param_hint="'--bootstrap'")
        found = load(file)
        if not isinstance(found, Bootstrap) or found.kind != kind:
            raise DataError(f"{str(file)!r} holds no resamples of kind {kind!r}.")
        ours, theirs = self.network.without_covariates(), found.solution.network
        same = ours.names == theirs.names and np.array_equal(ours.edge_index, theirs.edge_index)
        if not (same and np.allclose(ours.edge_values, theirs.edge_values, rtol=SAME_COUPLING, atol=SAME_COUPLING)):
            remedy = "Run `isinglass bootstrap` with the options of the fit."
            raise DataError(f"--bootstrap must be of the network of MODEL; {str(folder)!r} has other edges. {remedy}")
        return found

    def recall(self, reading: Reading, **instead: str | None) -> Reading:
        """Return how a table of this model is read: as that of the fit was, unless the user says something else.

        Columns are found by their names, and others are ignored. ``instead`` is what holds in place of what the fit
        did.
        """
        known = {"encode": self.coding} if self.fit is None else self.fit.reading_again()
        if "weights" in reading.said:  # also where it says that there are none
            known = {**known, "encode": known["encode"].without_weights()}
        return reading.with_defaults(**{**known, **instead})

    def read_fitted(self, console: Console, reading: Reading, table: str) -> Table:
        """Read the table of the fit again, and impute the same cells from the same seed; another table is refused."""
        with suppress_warnings(DataWarning):  # the fit gave them
            data = reading.read(console, table)
        if data.holes is not None:
            from isinglass.select.imputation import ImputationSettings, complete_table

            how = ImputationSettings() if self.fit is None else self.fit.method.imputation
            data = complete_table(data, None, how)[0].whole()
        if self.fit is not None and (difference := _find_difference(self.fit, data)):
            remedy = "Read it with the options of the fit, such as --weights or --missing."
            raise DataError(f"This is not the table that the model was fitted to: {difference}. {remedy}")
        return data


def _find_difference(fit: Fit, data: Table) -> str:
    """Say how a table differs from the fitted one in its number of rows or the shares of its categories; or nothing."""
    import numpy as np

    from isinglass.records import category_shares

    fitted, here = fit.data.n_rows, data.counted(quiet=True).total_weight
    if not np.isclose(fitted, here, rtol=1e-9):
        return f"the fit had {fitted:.6g} rows, counted with their weights, and this table has {here:.6g}"
    far = np.abs(category_shares(data) - fit.data.shares)
    if far.max() <= 1e-9 or (fit.missing and fit.missing.is_cut):  # a time limit: other cells would be drawn now
        return ""
    column = fit.network.names[fit.network.variables.column[far.argmax()]]
    return f"{column!r} has other shares of its values"


@dataclass(frozen=True)
class Attributes:
    """What a file says about nodes, in their order: the first column gives the colors, unless it is the wording."""

    columns: Mapping[str, list[str | None]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: str | None, variables: Variables, taken: Collection[str] | None = None) -> Attributes:
        """Return the attributes of the nodes among some variables; none without a file.

        Nodes that the file does not mention have no values. Rows that mention no node are refused, and names of
        attributes that a file with such columns uses itself, ``taken``.
        """
        from isinglass.export.attributes import check_name

        if file is None:
            return cls()
        header, rows = _read_rows(file)
        nodes = variables.nodes
        for name in () if taken is None else header:
            try:
                check_name(name, "node", variables, taken or ())
            except DataError as error:
                error.where = file
                raise
        for row in rows:
            if row not in nodes:
                raise DataError(f"{file} must name nodes in its first column; {row!r} is not a node.")
        cells = [rows.get(node, [""] * len(header)) for node in nodes]
        return cls({name: [row[k] or None for row in cells] for k, name in enumerate(header)})

    @property
    def color_by(self) -> str | None:
        """The name of the attribute that gives the colors, and groups of nodes."""
        return next((name for name in self.columns if name != WORDING), None)

    @property
    def groups(self) -> list[str | None] | None:
        """The values of that attribute."""
        return None if self.color_by is None else self.columns[self.color_by]


def _read_rows(file: str) -> tuple[list[str], dict[str, list[str]]]:
    """Return the names of the attributes, and the attributes of every node."""
    from isinglass.names import refuse_repeated

    try:
        text = pathlib.Path(file).read_text(encoding="utf-8-sig")
        delimiter = max(",;\t", key=text.partition("\n")[0].count)
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        (_, *header), *rows = [[*map(str.strip, line)] for line in lines if line] or [[""]]
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{file} must be a CSV file in UTF-8; {error}.") from None
    if not header or not all(header) or len({name.casefold() for name in header}) < len(header):
        got = f"got {', '.join(map(repr, header))}" if header else "got none"
        raise DataError(f"{file} must have a header with different names of attributes after that of the nodes; {got}.")
    if wrong := next((row for row in rows if len(row) != 1 + len(header)), None):
        raise DataError(f"{file} must have {1 + len(header)} cells in every line; got {', '.join(map(repr, wrong))}.")
    refuse_repeated([node for node, *_ in rows], f"the nodes in {file}")
    return header, {node: row for node, *row in rows}
