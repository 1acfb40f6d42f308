"""What a report shows of the edges: couplings along the path, their table, and the tables of categories."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy  # its parts are loaded when they are needed

from isinglass.arrays import FloatArray, round_digits
from isinglass.coupling_graph import union_keys
from isinglass.data.meaning.rules import Rule, Steps
from isinglass.fit import Fit
from isinglass.json_text import JsonObject
from isinglass.network import Network
from isinglass.pairs import pairs_of
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.show.report.subject import Subject

MOST_CELLS = 200_000  # largest number of cells of the tables of edges
KNOWN = ("source", "target", "coupling", "sign", "weight", "stability")
"""Columns that the page has already."""


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
        "selected": subject.selected,  # number of the network itself
        "n_edges": [solution.n_edges for solution in solutions],
        "n_pairs": len(union_keys([solution.network for solution in solutions])),  # on the path, stored or not
        "s": pairs[:, 0],
        "t": pairs[:, 1],
        "first": first,  # number of the alpha of the first value
        "values": [round_digits(row[a:b]) for row, a, b in zip(table, first, end, strict=True)],
        "exact": table[:, subject.selected],  # in the selected network, with all digits
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
            if label not in KNOWN:
                listed = values.tolist()
                columns[label] = [listed[row[pair]] if pair in row else None for pair in ends]
    # Without values, such as partial correlations where no edge joins two continuous columns: NaN, which is not itself.
    return [
        {"label": label, "values": values}
        for label, values in columns.items()
        if any(value is not None and value == value for value in values)
    ]


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


def list_tables(subject: Subject, whole: Subject) -> list[JsonObject | None]:
    """Return block and counts of the stored edges of the network, the strongest first up to MOST_CELLS.

    Edges with a continuous column also have the expected numbers of that column, if the shares of values are known.
    ``whole`` is the subject with its covariates, on which these depend.
    """
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
