"""What a page is about: a network, and what is known of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from isinglass.arguments import check_kind
from isinglass.arrays import AnyArray, FloatArray, Mask
from isinglass.data import Coding, Table, TableLike
from isinglass.data.meaning.rules import Rule
from isinglass.errors import DataError, setting
from isinglass.fit import Fit
from isinglass.network import Network
from isinglass.network_like import NetworkLike, as_network, fit_of, read_for, solution_of
from isinglass.records import TableSummary
from isinglass.results import Path, Solution
from isinglass.simulate.completions import among

SAME_ALPHA = 1e-9  # relative difference up to which two alphas are the same


@dataclass(frozen=True, eq=False)
class Subject:
    """What a page is about: a network, and what is known of it."""

    network: Network
    fit: Fit | None
    solution: Solution | None
    path: Path | None
    table: Table | None  # of the fit
    max_edges: int  # on the page
    kept: NDArray[np.intp]  # which columns of the fit are nodes here

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
        return cls(network, fit, solution_of(result), path, table, max_edges, np.arange(network.n_features))

    def without_covariates(self) -> Subject:
        """Return the same of the variables that are modeled, which is what is drawn and counted."""
        variables = self.network.variables
        if not variables.has_covariates:
            return self
        return replace(
            self,
            network=self.network.without_covariates(),
            solution=self.solution and self.solution.without_covariates(),
            path=None if self.path is None else self.path.without_covariates(),
            table=None if self.table is None else self.table.take(variables.is_modeled),
            kept=np.flatnonzero(variables.is_modeled),
        )

    @property
    def rules(self) -> Sequence[Rule]:
        """How the columns were read; as the categories of the network say where there is no fit."""
        return (Coding.of(self.network.variables) if self.fit is None else self.fit.coding).columns

    @property
    def predicting(self) -> Network:
        """The network without categories that do not occur in the table of the fit."""
        return self.network if self.fit is None else among(self.fit.occurs, self.network)

    @cached_property
    def solutions(self) -> tuple[Solution, ...]:
        """The networks along the slider: those of the path, and the selected one if it is not among them."""
        along = tuple(self.path or ())
        if not along:
            return (Solution(self.network, np.nan) if self.solution is None else self.solution,)
        n_nodes = self.network.n_features
        for each in along:
            if each.network.n_features != n_nodes:
                raise DataError(
                    f"{setting('path')} must have {n_nodes} nodes, as the network has; got {each.network.n_features}."
                )
        if self.solution is None or np.isnan(self.solution.alpha) or self._near(along).any():
            return along
        place = sum(each.alpha > self.solution.alpha for each in along)
        return (*along[:place], self.solution, *along[place:])

    @cached_property
    def selected(self) -> int:
        """The number of the network itself along the slider."""
        if len(self.path or ()) == 0:
            return 0
        if self.solution is None or np.isnan(self.solution.alpha):
            named = (each.network.with_names(self.network.names) for each in self.solutions)
            same = [k for k, each in enumerate(named) if each == self.network]
            if not same:
                raise DataError("result is not on the path. Pass the Solution with its alpha, or leave the path out.")
            return same[0]
        found = int(self._near(self.solutions).argmax())
        difference = abs(self.solutions[found].network.couplings_sparse - self.network.couplings_sparse).max()
        if difference > 1e-9 * max(1.0, self.network.weights.max(initial=0.0)):
            raise DataError(
                f"result must be the network of the path at its alpha ({self.solution.alpha:.6g}); its couplings "
                f"differ by {difference:.3g}. Leave the path out."
            )
        return found

    def _near(self, solutions: Sequence[Solution]) -> Mask:
        """Tell which solutions have the alpha of this one."""
        assert self.solution is not None
        distance = np.abs(np.array([each.alpha for each in solutions]) - self.solution.alpha)
        return np.asarray(distance <= SAME_ALPHA * max(abs(self.solution.alpha), 1e-300))

    @property
    def shown(self) -> Solution:
        """The selected network among the solutions."""
        return self.solutions[self.selected]

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
        strength = np.zeros(len(every))
        strength[np.searchsorted(every, keys[self.selected])] = np.abs(self.shown.edge_values)
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
