"""What a report shows: nodes, edges, tables of categories, certificate, choice, missing cells and checks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import scipy  # its parts are loaded when they are needed

from isinglass.arguments import RandomSource
from isinglass.arrays import FloatArray, round_digits
from isinglass.data.meaning.rules import Rule, Steps
from isinglass.errors import ArgumentError, DataError
from isinglass.evaluate.centrality import further_measures
from isinglass.evaluate.checking import ModelCheck, check_model
from isinglass.evaluate.nodes import node_table
from isinglass.fit import Fit
from isinglass.json_text import JsonObject
from isinglass.names import NodeValues, by_node
from isinglass.network import Network, union_keys
from isinglass.pairs import pairs_of
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.show.layout import force_layout
from isinglass.show.report.methods import explain_choice
from isinglass.show.report.subject import Subject

MOST_CELLS = 200_000  # largest number of cells of the tables of edges
# Columns that the page has already, or computes itself for every point of the path.
OF_NODES = {"name", "degree", "strength", "expected_influence"}
OF_EDGES = {"source", "target", "coupling", "sign", "weight", "stability"}


def list_nodes(
    subject: Subject, groups: Sequence[int], columns: Sequence[JsonObject], random_state: RandomSource
) -> JsonObject:
    """Return the nodes: their places in a layout of the selected network, or of the densest if it is empty."""
    shown = subject.shown
    densest = max(subject.solutions, key=lambda solution: solution.n_edges)
    drawn = (shown if shown.n_edges else densest).network
    xy = force_layout(drawn.n_features, drawn.edge_index, drawn.weights, random_state=random_state).round(4)
    return {
        "names": subject.network.names,
        "groups": groups,  # number of the group of each, −1 for none
        "x": xy[:, 0],
        "y": xy[:, 1],
        "fields": shown.fields if shown.network.variables.is_binary else None,
        "columns": columns,  # of their table
    }


def list_node_columns(
    subject: Subject, members: Sequence[str | None], wording: NodeValues | None, resamples: Sequence[Bootstrap]
) -> list[JsonObject]:
    """Return the columns of the table of nodes: kinds, wording, measures, intervals, and how much is missing.

    ``members`` are the groups of nodes, between which there are bridges.
    """
    network, missing = subject.network, None if subject.fit is None else subject.fit.missing
    found: JsonObject = {}
    if not network.variables.is_binary:
        described = {"kind": network.kinds, "categories": network.variables.sizes}
        found = {label: values for label, values in described.items() if len(set(values)) > 1}
    texts = read_wording(wording, network)
    if texts is not None:
        found["wording"] = texts
    found |= further_measures(network, members if any(member is not None for member in members) else None)
    if subject.whole.table is not None:
        measured = node_table(subject.whole.table, subject.whole.predicting)
        found |= {label: values for label, values in measured.items() if label not in OF_NODES}
    for each in resamples:
        place = {name: node for node, name in enumerate(each.names)}
        if place.keys() != {*network.names}:
            raise DataError("bootstrap must be of a table with the nodes of the network; got other names.")
        order = [place[name] for name in network.names]
        found |= {f"bootstrap strength {name}": each.nodes()[name][order] for name in ("q2.5", "q97.5")}
    if missing is not None:
        holes = {"missing": missing.column_shares, "missing_information": missing.column_information}
        found |= {label: share[subject.kept] for label, share in holes.items() if share is not None}
    return _with_values(found)


def _with_values(columns: Mapping[str, Iterable[object]]) -> list[JsonObject]:
    """Return the columns with some value, which is neither None nor NaN, which is not itself."""
    return [
        {"label": label, "values": values}
        for label, values in columns.items()
        if any(value is not None and value == value for value in values)
    ]


def read_wording(given: NodeValues | None, network: Network) -> list[str] | None:
    """Return the wording of every item, by default that of the file; empty for a node without one."""
    given = network.variables.wording if given is None else given
    listed = None if given is None else by_node(given, network.names, "wording")
    return None if listed is None else ["" if text is None else str(text) for text in listed]


def list_categories(subject: Subject) -> JsonObject | None:
    """Return what the categories of every node are; None if all are 0 and 1."""
    network, variables, shares = subject.shown.network, subject.shown.network.variables, subject.shares
    if variables.is_binary:
        return None
    return {
        "kinds": network.kinds,
        "labels": [[None if value is None else str(value) for value in values] for values in variables.categories],
        "scores": variables.scores,
        "units": variables.units,
        "fields": [round_digits(field) for field in variables.split(network.category_fields)],
        "shares": None if shares is None else [round_digits(share) for share in shares],
    }


def list_pairs(subject: Subject) -> JsonObject:
    """Return the couplings of every stored pair, from the alpha at which it enters to its last one."""
    solutions, shown = subject.solutions, subject.shown
    pairs = pairs_of(subject.stored, shown.network.n_features)
    table = np.array([each.network.values_at(subject.stored) for each in solutions]).T  # pairs × alphas
    present = table != 0.0
    first = present.argmax(axis=1)
    end = len(solutions) - present[:, ::-1].argmax(axis=1)
    return {
        "alphas": [solution.alpha for solution in solutions],
        "per_node": shown.alphas_per_node is not None,  # whether every node has its own alpha
        "selected": subject.slider[1],  # number of the network itself
        "n_edges": [solution.n_edges for solution in solutions],
        "n_pairs": len(union_keys([solution.network for solution in solutions])),  # on the path, stored or not
        "s": pairs[:, 0],
        "t": pairs[:, 1],
        "first": first,  # number of the alpha of the first value
        "values": [round_digits(row[a:b]) for row, a, b in zip(table, first, end, strict=True)],
        "exact": table[:, subject.slider[1]],  # in the selected network, with all digits
        "signed": shown.network.variables.has_sign(pairs),
    }


def list_edge_columns(subject: Subject, resamples: Sequence[Bootstrap]) -> list[JsonObject]:
    """Return further columns of the edge table with some value, in the order of the stored pairs; None for no value."""
    network, fit, stored = subject.network, subject.fit, subject.stored
    if not len(stored):
        return []
    pairs, columns = pairs_of(stored, network.n_features), {}
    if fit is not None and fit.selection.stability is not None:
        columns["stability"] = fit.selection.stability.frequencies()[tuple(subject.kept[pairs].T)].tolist()
    if len(set(network.kinds)) > 1:
        columns["kinds"] = [f"{network.kinds[s]} – {network.kinds[t]}" for s, t in pairs]
    ends = [frozenset((network.names[s], network.names[t])) for s, t in pairs]
    for table in [*([] if fit is None else [fit.edges()]), *(each.edges() for each in resamples)]:
        row = {frozenset(pair): k for k, pair in enumerate(zip(table["source"], table["target"], strict=True))}
        for label, values in table.items():
            if label not in OF_EDGES:
                listed = values.tolist()
                columns[label] = [listed[row[pair]] if pair in row else None for pair in ends]
    return _with_values(columns)


def list_covariates(model: Network | Fit) -> dict[str, str]:
    """Return the couplings of every covariate in words, with standard errors where these are known."""
    columns = model.covariate_edges()
    errors = columns.get("std_error", np.full(len(columns["coupling"]), np.nan))
    found: dict[str, list[str]] = {}
    for covariate, variable, value, sign, error in zip(
        *(columns[name] for name in ("covariate", "variable", "coupling", "sign")), errors, strict=True
    ):
        known = "" if np.isnan(error) else f" ({error:.2g})"
        number = f"{value:{'+' if sign else ''}.3g}{known}".replace("-", "−")
        found.setdefault(str(covariate), []).append(f"{variable} {number}")
    return {name: ", ".join(entries) for name, entries in found.items()}


def list_tables(subject: Subject) -> list[JsonObject | None]:
    """Return block and counts of the stored edges of the network, the strongest first up to MOST_CELLS.

    Edges with a continuous column also have the expected numbers of that column, if the shares of values are known.
    """
    whole = subject.whole  # expected numbers depend on covariates
    network, stored, counts, shares = subject.network, subject.stored, subject.pair_counts, whole.shares
    if network.variables.is_binary:
        return [None] * len(stored)
    found, room, blocks = {}, MOST_CELLS, network.blocks
    for k in network.by_strength.tolist():
        s, t = network.edge_index[k].tolist()
        block, count = blocks[k], counts.get((s, t))
        room -= block.size + (0 if count is None else count.size)
        if room < 0:
            break
        means = None if shares is None else expected_along(whole.network, k, shares, whole.rules)
        found[s, t] = {
            "block": None if network.edge_signs[k] else round_digits(block),
            "counts": count,
            "means": None if means is None else round_digits(means),
        }
    return [found.get((s, t)) for s, t in pairs_of(stored, network.n_features).tolist()]


def expected_along(
    network: Network, edge: int, shares: Sequence[FloatArray], rules: Sequence[Rule]
) -> FloatArray | None:
    """Return the expected number of a continuous column at every category of the other column of its edge.

    All further neighbors, and covariates, add what they add on average, by the shares of their categories. Where both
    columns are continuous it is the second; None where none is. ``rules``: how the columns were read.
    """
    variables, ends = network.variables, network.edge_index[edge].tolist()
    chosen = [s for s in ends[::-1] if s in variables.continuous]
    if not chosen:
        return None
    y = chosen[0]
    along = ends[1] if ends[0] == y else ends[0]
    predictor = np.zeros(int(variables.sizes[along]))
    blocks = variables.split_blocks(network.pairs, network.pair_parameters)
    for k in np.flatnonzero((network.pairs == y).any(axis=1)).tolist():
        first, second = network.pairs[k].tolist()
        x = second if first == y else first
        points = variables.score(x)
        added = blocks[k].ravel() if points is None else points * blocks[k].item()  # by category of x
        predictor += added if x == along else shares[x] @ added
    field, score = variables.split(network.category_fields)[y], np.array(variables.scores[y])
    logs = field[:, None] + np.outer(score, predictor)
    chance = scipy.special.softmax(logs, axis=0)
    steps = rules[y]
    assert isinstance(steps, Steps)
    return np.asarray(np.array(steps.means) @ chance)


PROOF = ("objective", "kkt_residual", "duality_gap", "certified_zeros", "n_iter", "n_screened", "converged")
MOST_SIMULATED = 400  # categories of all columns up to which rows are simulated from the network: seconds


def list_certificates(subject: Subject) -> JsonObject:
    """Return the certificate of every network along the slider."""
    fit = subject.fit
    nodewise = subject.solution is not None and subject.solution.alphas_per_node is not None
    kind = fit.method.estimator if fit is not None else "nodewise" if nodewise else "joint"
    stages = None if fit is None else fit.selection.stages
    proof: JsonObject = {name: [getattr(each, name) for each in subject.solutions] for name in PROOF}
    null = _null_objective(subject)
    return {
        "kind": kind,
        # By which the coefficients of regressions are combined.
        "rule": fit.method.rule if fit is not None and kind == "nodewise" else None,
        "tol": _tolerances(subject),
        # Pairs that stage 1 left to a network of stage 2: the proof is about these.
        "candidates": stages.each[0].n_edges if stages and stages.number else None,
        "null_objective": null,
        "relative_gap": np.array(proof["duality_gap"]) / np.maximum(null, 1e-12),
        **proof,
    }


def _tolerances(subject: Subject) -> list[float]:
    """Return what every network was solved to: those along a path may be less precise than the selected one."""
    own = np.nan if subject.fit is None else subject.fit.method.tolerance
    found = [own if subject.path is None else subject.path.tol] * len(subject.solutions)
    if subject.fit is not None:
        found[subject.slider[1]] = own
    return found


def _null_objective(subject: Subject) -> float:
    """Return the objective without edges; NaN where it is not known.

    Where no such network is on the slider it is the entropy of the shares, unless there are covariates.
    """
    for each in subject.solutions:
        if each.n_edges == 0 and np.isfinite(each.objective):
            return each.objective
    if subject.shares is None or subject.with_covariates is not None:
        return np.nan
    return float(sum(scipy.special.entr(share).sum() for share in subject.shares))


def read_curve(subject: Subject) -> JsonObject | None:
    """Return the curve that the penalty was chosen from, if there is one."""
    if subject.fit is None:
        return None
    stability, evidence = subject.fit.selection.stability, subject.fit.selection.evidence
    if stability is not None:
        told = ("alphas", "monotone", "threshold", "n_subsamples", "subsample_size")
        line = {name: getattr(stability, name) for name in told}
        return {"kind": "instability", "values": stability.instability, "choice": stability.index, **line}
    if evidence is None:
        return None
    line = {name: getattr(evidence, name) for name in ("kind", "alphas", "values", "choice", "errors")}
    return {**line, **evidence.settings, "reason": " ".join(explain_choice(subject.fit))}


def read_settings(given: Mapping[str, object] | None, fit: Fit | None) -> dict[str, str]:
    """Return what the network was made with, as texts."""
    if not isinstance(given, Mapping | None):
        raise ArgumentError("settings", "must be a mapping of names to values", given)
    if given is None and fit is not None:
        changed = {name: value for name, value in fit.method.changed().items() if name not in ("estimator", "selector")}
        given = {"method": fit.method.estimator, "choice": fit.chosen_by, **changed}
    return {str(name): str(value) for name, value in (given or {}).items() if value is not None}


def describe_missing(subject: Subject) -> JsonObject | None:
    """Return what is known of missing cells, of which covariates have some, too; None if there are none."""
    missing = None if subject.fit is None else subject.fit.missing
    if missing is None:
        return None
    patterns = (
        [] if missing.patterns is None else [np.flatnonzero(pattern) for pattern in missing.patterns[:, subject.kept]]
    )
    counts = [] if missing.pattern_counts is None else missing.pattern_counts.tolist()
    return {
        **{name: value for name, value in vars(missing).items() if isinstance(value, int | float | str)},
        "n_columns": subject.whole.network.n_features,
        "n_rounds": missing.n_rounds,
        "edge_information": [] if missing.edge_information is None else missing.edge_information,
        "patterns": [{"columns": each, "n_rows": count} for each, count in zip(patterns, counts, strict=True)],
    }


def check_rows(subject: Subject) -> ModelCheck | None:
    """Return whether the network reproduces the rows, unless simulating would take long."""
    if subject.table is None or subject.with_covariates or subject.network.variables.sizes.sum() > MOST_SIMULATED:
        return None
    return check_model(subject.table, subject.predicting)


def describe_check(found: ModelCheck | None) -> JsonObject | None:
    """Return what a check of the network found, and what follows from it: what was compared, and how much differs."""
    if found is None:
        return None
    parts = [{"what": one.what, "n": len(one.p_values), "n_flagged": one.n_flagged} for one in found.comparisons]
    return {"passed": found.passed, "text": found.sentence, "consequence": found.consequence, "parts": parts}


def describe_stability(found: Bootstrap) -> JsonObject:
    """Return the CS-coefficients, and the number of subsets that each share of them rests on."""
    return {"coefficients": found.cs_coefficients(), "n_per_share": found.n_per_share, "few": found.has_few_subsets}
