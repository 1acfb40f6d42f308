"""Whether groups of rows have the same network: permutation tests of structure, strength, edges and nodes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import narwhals as nw
import numpy as np
from numpy.random import Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from isinglass._core import count_ones
from isinglass.arguments import check_count
from isinglass.data import BinaryTable, check_sample_weight, read_binary
from isinglass.data.conversion import refuse_holes
from isinglass.errors import (
    ArgumentError,
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
from isinglass.select.method import as_method, keep_penalty, run_quickly, solution_of
from isinglass.select.tasks import kernel_threads, run_tasks

__all__ = ["GroupComparison", "compare_groups"]

FloatArray = NDArray[np.float64]
Table = NDArray[np.uint8]
Rows = list[NDArray[np.intp]]

LARGEST_BLOCK, CELLS_PER_BLOCK = 25, 500_000
"""Permutations in one task where the penalty is kept, and cells of the table times permutations."""
_SHOWN = 5  # rows, subjects or columns named in a message


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
    X : array, data frame, sparse matrix, list of rows or BinaryTable, shape (n_samples, n_features)
        Table of 0 and 1, or of what is read as such.
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
    random_state : int, Generator, RandomState, SeedSequence or None
        Seed of the permutations.
    n_jobs : int, optional
        Permutations at the same time, as in joblib; -1 is all cores. The result does not depend on it.
    checkpoint : path, optional
        Folder that keeps finished permutations: an interrupted run resumes there, and a finished one can be prolonged.
    progress : bool, optional
        Whether to show a bar on stderr; default only if that is a terminal.

    Returns
    -------
    GroupComparison

    Notes
    -----
    A kept penalty is that of all rows times √K for K groups: a group has about 1/K of the rows, and the noise that the
    penalty has to exceed falls with the square root of their number. A penalty given as a number is used as it is.

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
    frame, labels = _take_column(X, groups, "groups")
    frame, subjects = _take_column(frame, paired, "paired")
    data = refuse_holes(read_binary(frame))
    weight = _weight_of(data, sample_weight)
    plan = _Plan.of(_entries("groups", labels, data), None if subjects is None else _entries("paired", subjects, data))
    _name_constant(data, plan)
    wanted = as_method(method)
    with suppress_warnings(ConstantColumnWarning):  # named by group above
        inside = _method_inside(wanted, reselect, data.X, weight, plan)
        found = [_fit(inside, data.X[rows], _part(weight, rows)) for rows in plan.rows]
    solutions = tuple(solution.with_names(check_names(data.names, data.shape[1])) for solution in found)
    pairs = union_pairs([solution.network for solution in solutions])
    observed = Differing.of([solution.network for solution in solutions])
    seeds = spawn_seeds(random_state, count + LARGEST_BLOCK)
    size = 1 if reselect else max(1, min(LARGEST_BLOCK, CELLS_PER_BLOCK // data.X.size))
    quick = run_quickly(inside, kernel_threads(n_jobs))
    results = run_tasks(
        _permute,
        [(data.X, weight, plan, quick, pairs, observed, seeds[k : k + size]) for k in range(0, count, size)],
        n_jobs=n_jobs,
        progress=progress,
        checkpoint=checkpoint,
        fingerprint={
            "X": data.X,
            "groups": plan.member,
            "paired": plan.subject,
            "sample_weight": weight,
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


# ------------------------------------------------------------------------------------------- who is in which group


def _take_column(X: Any, groups: Any, argument: str) -> tuple[Any, Any]:
    """Return the table and the labels; a name takes that column out of a data frame."""
    if not isinstance(groups, str):
        return X, groups
    if isinstance(X, BinaryTable) and groups in X.labels:
        return X, X.labels[groups]
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or groups not in frame.columns:
        raise ArgumentError(argument, "must have one entry per row, or be the name of a column of a data frame", groups)
    return frame.drop(groups).to_native(), frame[groups].to_list()


def _entries(name: str, given: Any, data: BinaryTable) -> NDArray[Any]:
    """Return one label per row of the table, none missing; labels of dropped rows are left out."""
    entries = list(given) if hasattr(given, "__iter__") and not isinstance(given, str | bytes) else None
    if entries is not None and len(entries) != len(data) and data.rows is not None and len(entries) > data.rows.max():
        entries = [entries[row] for row in data.rows]
    if entries is None or len(entries) != len(data):
        got = repr(given) if entries is None else f"{len(entries)} entries"
        raise DataError(f"{name} must have one entry per row ({len(data)}); got {got}.")
    missing = [k for k, entry in enumerate(entries) if _is_missing(entry)]
    if missing:
        shown = ", ".join(map(str, missing[:_SHOWN])) + (", …" if len(missing) > _SHOWN else "")
        raise DataError(
            f"{name} must have an entry for every row; got none in {len(missing)} of {len(entries)} rows ({shown}, "
            "counted from 0). Leave these rows out."
        )
    try:
        known = sorted(set(entries))
    except TypeError:  # labels of different kinds
        known = sorted(set(entries), key=str)
    labels = np.array([_text(label) for label in known], dtype=object)
    if len(set(labels)) < len(labels):
        raise DataError(f"{name} must be labels that differ as text; got {', '.join(map(repr, known[:_SHOWN]))}.")
    number = {label: k for k, label in enumerate(known)}
    return labels[[number[entry] for entry in entries]]


def _is_missing(entry: Any) -> bool:
    if entry is None or (isinstance(entry, str) and not entry.strip()):
        return True
    try:
        return bool(entry != entry)
    except TypeError:  # pandas.NA is neither equal nor different
        return True


def _text(label: Any) -> str:
    return str(int(label)) if isinstance(label, float | np.floating) and label == int(label) else str(label)


@dataclass(frozen=True, eq=False)
class _Plan:
    """The groups, their rows, and how rows may change places.

    Parameters
    ----------
    groups : tuple of str
        The groups.
    member : ndarray of int, shape (n_samples,)
        The group of every row, as a number.
    subject : ndarray of int, shape (n_samples,), optional
        Whose row it is, where labels are exchanged within subjects.
    rows : list of ndarray
        The rows of every group; of the same subjects in the same order if there are any.
    """

    groups: tuple[str, ...]
    member: NDArray[np.intp]
    subject: NDArray[np.intp] | None
    rows: Rows

    @classmethod
    def of(cls, labels: NDArray[Any], subjects: NDArray[Any] | None) -> _Plan:
        """Check the labels: at least two groups, none of one row, every subject once in each."""
        member, groups = _number(labels, sorted(set(labels), key=_by_value))
        sizes = np.bincount(member)
        if len(groups) < 2:
            raise DataError(f"groups must name at least two groups; got {groups[0]!r} in all {len(labels)} rows.")
        if sizes.min() < 2:
            single = ", ".join(repr(group) for group, size in zip(groups, sizes, strict=True) if size < 2)
            raise DataError(
                f"groups must have at least two rows each; got one row in {single}. Join groups or leave the row out."
            )
        if subjects is None:
            return cls(groups, member, None, [np.flatnonzero(member == k) for k in range(len(groups))])
        subject, known = _number(subjects, list(dict.fromkeys(subjects)))  # whatever they are called
        counts = np.zeros((len(known), len(groups)), dtype=np.intp)
        np.add.at(counts, (subject, member), 1)
        wrong = np.flatnonzero((counts != 1).any(axis=1))
        if len(wrong):
            shown = ", ".join(repr(known[k]) for k in wrong[:_SHOWN]) + (", …" if len(wrong) > _SHOWN else "")
            raise DataError(
                f"paired must name subjects with one row in every group; got others in {len(wrong)} of {len(known)}: "
                f"{shown}. Leave these out, or leave paired out to compare independent groups."
            )
        order = np.argsort(subject, kind="stable")
        return cls(groups, member, subject, [order[member[order] == k] for k in range(len(groups))])

    def shuffle(self, rng: Generator) -> Rows:
        """Return the rows of every group with labels exchanged, among all rows or within subjects."""
        if self.subject is not None:
            return list(rng.permuted(np.column_stack(self.rows), axis=1).T)
        sizes = [len(rows) for rows in self.rows]
        shuffled = rng.permutation(len(self.member))
        return [np.sort(part) for part in np.split(shuffled, np.cumsum(sizes)[:-1])]


def _number(labels: NDArray[Any], known: Sequence[str]) -> tuple[NDArray[np.intp], tuple[str, ...]]:
    place = {label: k for k, label in enumerate(known)}
    return np.array([place[label] for label in labels], dtype=np.intp), tuple(known)


def _by_value(label: str) -> tuple[float, str]:
    """Order numbers as numbers and the rest as text behind them."""
    try:
        return float(label), label
    except ValueError:
        return math.inf, label


def _name_constant(data: BinaryTable, plan: _Plan) -> None:
    """Warn of columns that do not vary in a group."""
    names = check_names(data.names, data.shape[1])
    for group, rows in zip(plan.groups, plan.rows, strict=True):
        ones, inside = count_ones(data.X[rows], None)
        constant = np.flatnonzero(~inside)
        if len(constant):
            shown = ", ".join(f"{names[k]!r} (always {int(ones[k] > 0)})" for k in constant[:_SHOWN])
            more = f" and {len(constant) - _SHOWN} more" if len(constant) > _SHOWN else ""
            warn(
                ConstantColumnWarning(
                    f"constant in group {group!r}: column {shown}{more}. It gets no edges there, whatever it depends "
                    "on: do not read its differences as differences of dependence."
                )
            )


# ------------------------------------------------------------------------------------------- networks


def _weight_of(data: BinaryTable, sample_weight: ArrayLike | None) -> FloatArray | None:
    if data.sample_weight is not None and sample_weight is not None:
        raise DataError("sample_weight must be given once; got it beside a table that has weights of its own.")
    return check_sample_weight(sample_weight, len(data)) if data.sample_weight is None else data.sample_weight


def _part(weight: FloatArray | None, rows: NDArray[np.intp]) -> FloatArray | None:
    return None if weight is None else weight[rows]


def _method_inside(method: Method, reselect: bool, table: Table, weight: FloatArray | None, plan: _Plan) -> Method:
    """Return what is run on every group: the method, or the method at the penalty of all rows together."""
    if reselect:
        return method
    kept = keep_penalty(method, None) if _is_fixed(method) else None
    if kept is not None:
        return kept
    pooled = run_method(method, table, sample_weight=weight, groups=plan.subject)
    return keep_penalty(method, pooled, math.sqrt(len(plan.groups)))


def _is_fixed(method: Method) -> bool:
    """Tell whether a method has nothing to choose."""
    try:
        return keep_penalty(method, None) is method
    except DataError:
        return False


def _permute(
    table: Table,
    weight: FloatArray | None,
    plan: _Plan,
    method: Method,
    pairs: NDArray[np.int32],
    observed: Differing,
    seeds: Sequence[SeedSequence],
) -> dict[str, Any]:
    """Return the differences of some permutations, and which edges and nodes reach what was observed, as bits."""
    keys = pair_keys(pairs, table.shape[1])
    varies = count_ones(table, None)[1]
    found = []
    for seed in seeds:
        parts = plan.shuffle(np.random.default_rng(seed))
        constant = any((varies & ~count_ones(table[rows], None)[1]).any() for rows in parts)
        with suppress_warnings(
            ConstantColumnWarning, ConvergenceWarning, GridEndWarning
        ):  # the first two are counted instead
            solutions = [_fit(method, table[rows], _part(weight, rows)) for rows in parts]
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


def _fit(method: Method, table: Table, weight: FloatArray | None) -> Solution:
    return solution_of(run_method(method, table, sample_weight=weight), method, table, weight)


def _gather(
    plan: _Plan,
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
    counts: NDArray[np.int64] = np.unpackbits(bits, axis=1, count=n).sum(axis=0, dtype=np.int64)
    return counts
