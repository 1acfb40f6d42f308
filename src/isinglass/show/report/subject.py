"""What a page is about: a network, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import check_kind
from isinglass.arrays import AnyArray, FloatArray
from isinglass.data import Coding, Table, TableLike
from isinglass.data.meaning.rules import Rule
from isinglass.errors import DataError, setting
from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.records import TableSummary
from isinglass.results import NetworkLike, Path, Solution, as_network, fit_of, read_for, solution_of
from isinglass.simulate.gibbs import restrict_to


@dataclass(frozen=True, eq=False)
class Subject:
    """The variables that are modeled, which are drawn and counted, and what is known of them."""

    network: Network
    fit: Fit | None
    solution: Solution | None
    path: Path | None
    table: Table | None  # of the fit
    max_edges: int  # on the page
    kept: NDArray[np.intp]  # which columns of the fit are nodes here
    with_covariates: Subject | None = None

    @classmethod
    def of(cls, result: NetworkLike, X: TableLike | None, path: Path | None, max_edges: int) -> Subject:
        """Return what a result knows, unless it is given."""
        fit, network = fit_of(result), as_network(result)
        if path is not None:
            check_kind("path", path, Path, "ising_path")
        elif fit is not None:
            path = fit.selection.path
        table = None
        if X is not None:  # read as the table of the fit or, for a network by itself, as its columns are
            table = network.table(read_for(result, X)).without_holes()
        whole = cls(network, fit, solution_of(result), path, table, max_edges, np.arange(network.n_features))
        if not network.variables.has_covariates:
            return whole
        is_modeled = network.variables.is_modeled
        return cls(
            network=network.without_covariates(),
            fit=fit,
            solution=whole.solution and whole.solution.without_covariates(),
            path=None if path is None else path.without_covariates(),
            table=None if table is None else table.take(is_modeled),
            max_edges=max_edges,
            kept=np.flatnonzero(is_modeled),
            with_covariates=whole,
        )

    @property
    def whole(self) -> Subject:
        """The same with the covariates, on which predictions depend."""
        return self.with_covariates or self

    @property
    def rules(self) -> Sequence[Rule]:
        """How the columns were read; as the categories of the network say where there is no fit."""
        return (Coding.of(self.network.variables) if self.fit is None else self.fit.coding).columns

    @property
    def predicting(self) -> Network:
        """The network without categories that do not occur in the table of the fit."""
        return self.network if self.fit is None else restrict_to(self.fit.occurs, self.network)

    @cached_property
    def slider(self) -> tuple[tuple[Solution, ...], int]:
        """The networks along the slider, and the number of the network itself, which is inserted by its alpha."""
        own = Solution(self.network, np.nan) if self.solution is None else self.solution
        along = tuple(self.path or ())
        for k, each in enumerate(along):
            if each.network.n_features != self.network.n_features:
                needed, got = self.network.n_features, each.network.n_features
                raise DataError(f"{setting('path')} must have {needed} nodes, as the network has; got {got}.")
            has_alpha = np.isnan(own.alpha) or np.isclose(each.alpha, own.alpha, rtol=1e-9, atol=0.0)
            if has_alpha and each.network.with_names(self.network.names) == self.network:
                return along, k
        if along and np.isnan(own.alpha):
            raise DataError("result is not on the path. Pass the Solution with its alpha, or leave the path out.")
        place = sum(each.alpha > own.alpha for each in along)
        return (*along[:place], own, *along[place:]), place

    @property
    def solutions(self) -> tuple[Solution, ...]:
        """The networks along the slider."""
        return self.slider[0]

    @property
    def shown(self) -> Solution:
        """The network itself among them."""
        return self.solutions[self.slider[1]]

    @cached_property
    def stored(self) -> NDArray[np.int64]:
        """Keys of the pairs on the page.

        If there are too many: first the edges of the selected network, strong before weak, then those that enter the
        path early.
        """
        keys = [solution.network.edge_keys for solution in self.solutions]
        every, place = np.unique(np.concatenate(keys), return_inverse=True)
        if len(every) <= self.max_edges:
            return every
        entered = np.full(len(every), len(keys))
        np.minimum.at(entered, place, np.repeat(np.arange(len(keys)), [len(each) for each in keys]))
        strength = np.abs(self.shown.network.values_at(every))
        return np.sort(every[np.lexsort((every, entered, -strength))[: self.max_edges]])

    @cached_property
    def data(self) -> TableSummary | None:
        """Sums over the rows of the table, where they are known."""
        if self.fit is not None:  # comes first: the caller may have left weights out
            return self.fit.data
        return None if self.table is None else TableSummary.of(self.table, self.network)

    @cached_property
    def shares(self) -> tuple[FloatArray, ...] | None:
        """The share of every value of every node, where these are known."""
        if self.data is None:
            return None
        network = self.network if self.fit is None else self.fit.network
        shares = network.variables.split(np.clip(self.data.shares, 0.0, 1.0))
        return tuple(shares if self.fit is None else [shares[column] for column in self.kept.tolist()])

    @property
    def pair_counts(self) -> dict[tuple[int, int], AnyArray]:
        """The rows by category of edges between categories, where these are known."""
        if self.data is None or self.network.variables.is_binary:
            return {}
        return dict(zip([(s, t) for s, t in self.network.edge_index.tolist()], self.data.pair_counts, strict=True))
