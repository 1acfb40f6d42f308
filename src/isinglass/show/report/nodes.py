"""What a report shows of the nodes: their places, their table, and their categories."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isinglass.arguments import RandomSource
from isinglass.arrays import round_digits
from isinglass.errors import DataError
from isinglass.evaluate.centrality import further_measures
from isinglass.evaluate.nodes import node_table
from isinglass.json_text import JsonObject
from isinglass.names import NodeValues, by_node
from isinglass.network import Network
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.show.layout import force_layout
from isinglass.show.report.subject import Subject

KNOWN = {"names", "name", "degree", "strength", "expected_influence"}
"""Columns that the page has already, or computes itself for every point of the path."""


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
    subject: Subject,
    whole: Subject,
    members: Sequence[str | None],
    wording: NodeValues | None,
    resamples: Sequence[Bootstrap],
) -> list[JsonObject]:
    """Return the columns of the table of nodes: kinds, wording, measures, intervals, and how much is missing.

    ``members`` are the groups of nodes, between which there are bridges. Nodes are predicted by the ``whole``, which
    has covariates.
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
    if whole.table is not None:
        measured = node_table(whole.table, whole.predicting).columns
        found |= {label: values for label, values in measured.items() if label not in KNOWN}
    for each in resamples:
        place = {name: node for node, name in enumerate(each.names)}
        if place.keys() != {*network.names}:
            raise DataError("bootstrap must be of a table with the nodes of the network; got other names.")
        order = [place[name] for name in network.names]
        found |= {f"bootstrap strength {name}": each.nodes()[name][order] for name in ("q2.5", "q97.5")}
    if missing is not None:
        holes = {"missing": missing.column_shares, "missing_information": missing.column_information}
        known = {label: share[subject.kept] for label, share in holes.items() if share is not None}
        found |= {label: share for label, share in known.items() if not np.isnan(share).all()}
    return [{"label": label, "values": values} for label, values in found.items()]


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
