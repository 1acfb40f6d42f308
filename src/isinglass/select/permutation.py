"""Whether groups of rows have the same network: permutation tests of structure, strength, edges and nodes."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from isinglass.arguments import check_count
from isinglass.arrays import Bytes, FloatArray
from isinglass.data import BinaryTable, CategoryTable, bare_rows, which_vary
from isinglass.errors import (
    ConstantColumnWarning,
    ConvergenceWarning,
    DataError,
    GridEndWarning,
    suppress_warnings,
    warn,
)
from isinglass.names import check_names
from isinglass.pairs import pair_keys
from isinglass.randomness import RandomSource, spawn_seeds
from isinglass.results import Solution
from isinglass.select.comparison import Differing, GroupComparison, reaches, union_pairs
from isinglass.select.contract import Method, run_method
from isinglass.select.grouping import Plan, read_groups
from isinglass.select.impute import complete, imputes, keep_penalty_inside
from isinglass.select.method import as_method, keep_penalty, run_quickly, solution_of
from isinglass.select.tasks import kernel_threads, run_tasks

__all__ = ["GroupComparison", "compare_groups"]


LARGEST_BLOCK, CELLS_PER_BLOCK = 25, 500_000
"""Permutations in one task where the penalty is kept, and cells of the table times permutations."""
COPIES = 5
"""Completed copies of every row with missing cells."""
_SHOWN = 5  # columns named in a message


def compare_groups(
    X: Any,
    groups: Any,
    method: Any = None,
    *,
    reselect: bool = False,
    n_permutations: int = 1000,
    paired: Any = None,
    sample_weight: ArrayLike | None = None,
    random_state: RandomSource = None,
    n_jobs: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    progress: bool | None = None,
) -> GroupComparison:
    """Test whether two or more groups of rows have the same network.

    The labels of the rows are shuffled many times and the networks of the shuffled groups compared in the same way as
    those of the real ones.

    Parameters
    ----------
    X : array, data frame, sparse matrix, list of rows, BinaryTable or CategoryTable, shape (n_samples, n_features)
        Bytes of 0 and 1, or of what is read as such. One that was read with ``missing="impute"`` is imputed once, from
        the network of all rows, whatever their group; see the notes.
    groups : array-like of shape (n_samples,), or str
        The group of every row; or the name of the column of a data frame that holds it and is no node then, or of the
        ``labels`` that `read_table` kept.
    method : estimator, fit, function or float, optional
        What gives a network, as for `bootstrap`; `two_stage` by default. `nodewise_ebic` is IsingFit, the method of
        R's NetworkComparisonTest.
    reselect : bool, default False
        Choose the penalty in every group and again in every permutation. Otherwise it is chosen once, for all rows
        together whatever their group, and kept: many times faster, and as exact, since shuffling cannot change it.
    n_permutations : int, default 1000
        Number of permutations. The smallest possible p-value is 1 / (1 + n_permutations).
    paired : array-like of shape (n_samples,) or str, optional
        The subject of every row, where each was measured once in every group, such as before and after: labels are
        then exchanged within subjects.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, which stay with their rows.
    random_state, n_jobs, checkpoint, progress
        As for `bootstrap`, with permutations instead of resamples.


    Notes
    -----
    A kept penalty is that of all rows times √K for K groups: a group has about 1/K of the rows, and the noise that the
    penalty has to exceed falls with the square root of their number. A penalty given as a number is used as it is.

    Missing cells are imputed before labels are looked at. If the groups have the same network and lose cells in the
    same way, rows with their holes can change places, and the test is exact. Cells drawn from the network of all rows
    are alike in all groups: differences become smaller, and some power is lost. ``impute_first(method)`` imputes every
    group by itself, and again in every permutation: exact as well, and many times slower. Rows without any answer are
    left out, but for paired ones, which keep their place.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 600))
    >>> same = rng.random(600) < 0.2
    >>> X = np.column_stack([a, np.where(np.arange(600) < 300, a ^ same, b)])  # joined in the first 300 rows only
    >>> found = compare_groups(X, ["first"] * 300 + ["second"] * 300, 0.02, n_permutations=99, random_state=0)
    >>> found.groups, found.p_structure
    (('first', 'second'), 0.01)
    """
    count = check_count("n_permutations", n_permutations)
    wanted = as_method(method)
    data, plan = read_groups(X, groups, paired, sample_weight)
    sample = _Sample.of(data, wanted)
    _name_constant(data.names, sample, plan)
    with suppress_warnings(ConstantColumnWarning):  # named by group above
        inside = _method_inside(wanted, reselect, sample, plan)
        found = [sample.run(inside, rows)[1] for rows in plan.rows]
    solutions = tuple(solution.with_names(check_names(data.names, data.shape[1])) for solution in found)
    pairs = union_pairs([solution.network for solution in solutions])
    observed = Differing.of([solution.network for solution in solutions])
    seeds = spawn_seeds(random_state, count + LARGEST_BLOCK)
    size = 1 if reselect else max(1, min(LARGEST_BLOCK, CELLS_PER_BLOCK // sample.cells.size))
    quick = run_quickly(inside, kernel_threads(n_jobs))
    results = run_tasks(
        _permute,
        [(sample, plan, quick, pairs, observed, seeds[k : k + size]) for k in range(0, count, size)],
        n_jobs=n_jobs,
        progress=progress,
        checkpoint=checkpoint,
        fingerprint={
            "X": sample.cells,
            "holes": sample.holes,
            "groups": plan.member,
            "paired": plan.subject,
            "sample_weight": sample.weight,
            "method": run_quickly(inside, None),
            "reselect": reselect,
            "random_state": seeds[0].entropy,  # not n_permutations: a run may be prolonged
            # A function that is installed is known by its name only.
            "the networks": np.concatenate([solution.edge_values for solution in solutions]),
        },
        stage="permutations",
        description="Permutations",
    )
    return _gather(plan, solutions, pairs, results, count, reselect)


# ------------------------------------------------------------------------------------------- networks


def _name_constant(given: Sequence[str] | None, sample: _Sample, plan: Plan) -> None:
    """Warn of columns that do not vary in a group."""
    names = check_names(given, sample.cells.shape[1])
    for group, rows in zip(plan.groups, plan.rows, strict=True):
        some = sample.table[sample.places(rows)]
        constant, values = np.flatnonzero(~which_vary(_cells(some), None)), np.asarray(some)[0].tolist()
        if isinstance(some, CategoryTable):
            values = [known[value] for known, value in zip(some.categories, values, strict=True)]
        if len(constant):
            shown = ", ".join(f"{names[k]!r} (always {values[k]})" for k in constant[:_SHOWN])
            more = f" and {len(constant) - _SHOWN} more" if len(constant) > _SHOWN else ""
            warn(
                ConstantColumnWarning(
                    f"constant in group {group!r}: column {shown}{more}. It gets no edges there, whatever it depends "
                    "on: do not read its differences as differences of dependence."
                )
            )


def _cells(table: Any) -> Any:
    """Return the bytes of a table of 0 and 1, and one with categories as it is."""
    return table.X if isinstance(table, BinaryTable) else table


@dataclass(frozen=True, eq=False)
class _Sample:
    """The rows that are compared, with the completed copies of those that have holes."""

    table: Any  # the rows; or a completed table in the order of the rows, with weights of its own
    weight: FloatArray | None  # weights of an array
    holes: NDArray[np.bool_] | None = None  # the missing cells, if the method imputes them itself

    @classmethod
    def of(cls, data: Any, method: Method) -> _Sample:
        """Return the rows of a table, imputed without regard to groups unless the method imputes itself."""
        if data.holes is None or imputes(method):
            return cls(bare_rows(data), data.sample_weight, data.holes)
        table = complete(replace(data, rows=None, row_names=None), n_imputations=COPIES).table
        assert table.rows is not None
        return cls(table[np.argsort(table.rows, kind="stable")], None)

    @functools.cached_property
    def cells(self) -> Bytes:
        """The cells of all rows and copies."""
        return np.asarray(self.table)

    @property
    def origin(self) -> NDArray[np.intp]:
        """The row that each row or copy is."""
        known: NDArray[np.intp] | None = getattr(self.table, "rows", None)
        return np.arange(len(self.table)) if known is None else known

    def places(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return where some rows are, with all copies of each."""
        if isinstance(self.table, np.ndarray):
            return rows
        first, end = (np.searchsorted(self.origin, rows, side) for side in ("left", "right"))
        return np.concatenate([np.arange(a, b) for a, b in zip(first.tolist(), end.tolist(), strict=True)])

    def run(self, method: Method, rows: NDArray[np.intp], groups: NDArray[Any] | None = None) -> tuple[Any, Solution]:
        """Return what a method makes of some rows, and the network of that; ``groups`` has an entry per copy."""
        if self.holes is not None:
            method = functools.partial(method, holes=self.holes[rows])
        some = self.places(rows)
        table, weight = self.table[some], None if self.weight is None else self.weight[some]
        result = run_method(method, table, sample_weight=weight, groups=groups)
        return result, solution_of(result, method, table, weight)


def _method_inside(method: Method, reselect: bool, sample: _Sample, plan: Plan) -> Method:
    """Return what is run on every group: the method, or the method at the penalty of all rows together."""
    if reselect:
        return method
    if _is_fixed(method):
        return method
    subjects = None if plan.subject is None else plan.subject[sample.origin]
    pooled, _ = sample.run(method, np.arange(len(plan.member)), subjects)
    return keep_penalty_inside(method, pooled, math.sqrt(len(plan.groups)))


def _is_fixed(method: Method) -> bool:
    """Tell whether a method has nothing to choose."""
    try:
        return keep_penalty(method, None) is method
    except DataError:
        return False


def _permute(
    sample: _Sample,
    plan: Plan,
    method: Method,
    pairs: NDArray[np.int32],
    observed: Differing,
    seeds: Sequence[SeedSequence],
) -> dict[str, Any]:
    """Return the differences of some permutations, and which edges and nodes reach what was observed, as bits."""
    keys = pair_keys(pairs, sample.cells.shape[1])
    varies = which_vary(_cells(sample.table), None)
    found = []
    for seed in seeds:
        parts = plan.shuffle(np.random.default_rng(seed))
        constant = any((varies & ~which_vary(_cells(sample.table[sample.places(rows)]), None)).any() for rows in parts)
        with suppress_warnings(
            ConstantColumnWarning, ConvergenceWarning, GridEndWarning
        ):  # the first two are counted instead
            solutions = [sample.run(method, rows)[1] for rows in parts]
        differing = Differing.of([solution.network for solution in solutions], keys)
        failed = any(not solution.converged and not math.isnan(solution.kkt_residual) for solution in solutions)
        found.append((differing, constant, failed))
    return {
        "structure": [differing.structure for differing, _, _ in found],
        "strength": [differing.strength for differing, _, _ in found],
        "nodes": [differing.nodes.max() for differing, _, _ in found],
        "edge_bits": np.packbits([reaches(differing.edges, observed.edges) for differing, _, _ in found], axis=1),
        "node_bits": np.packbits([reaches(differing.nodes, observed.nodes) for differing, _, _ in found], axis=1),
        "constant": [constant for _, constant, _ in found],
        "failed": [failed for _, _, failed in found],
    }


def _gather(
    plan: Plan,
    solutions: tuple[Solution, ...],
    pairs: NDArray[np.int32],
    results: list[dict[str, Any]],
    count: int,
    reselect: bool,
) -> GroupComparison:
    """Put the permutations together: the last task may have run a few more than were asked for."""
    whole = {name: np.concatenate([result[name] for result in results])[:count] for name in results[0]}
    n_failed = int(whole["failed"].sum())
    if n_failed:
        warn(
            ConvergenceWarning(
                f"{n_failed} of {count} permutations did not reach the tolerance. Raise max_iter or tol."
            )
        )
    return GroupComparison(
        plan.groups,
        tuple(len(rows) for rows in plan.rows),
        solutions,
        pairs,
        whole["structure"],
        whole["strength"],
        whole["nodes"],
        _count_bits(whole["edge_bits"], len(pairs)),
        _count_bits(whole["node_bits"], solutions[0].n_features),
        plan.subject is not None,
        reselect,
        int(whole["constant"].sum()),
        n_failed,
    )


def _count_bits(bits: NDArray[np.uint8], n: int) -> NDArray[np.int64]:
    return np.asarray(np.unpackbits(bits, axis=1, count=n).sum(axis=0, dtype=np.int64))
