"""Measures of nodes and communities, agreement of networks, the joint likelihood, and the check of a network.

A network may be given as a `Network`, a `Solution`, a fitted estimator, or a symmetric matrix, dense or sparse: the
paper's Θ, whose diagonal holds the fields. Pairs are counted once, s < t; an edge is a pair whose coupling is not zero.
"""

from isinglass.evaluate.agreement import (
    EdgeConfusion,
    RocCurve,
    edge_confusion,
    relative_difference,
    roc_curve,
    weight_correlation,
)
from isinglass.evaluate.centrality import centrality, communities
from isinglass.evaluate.checking import Comparison, ModelCheck, check_model
from isinglass.evaluate.likelihood import LogPartition, log_partition
from isinglass.evaluate.nodes import node_table

__all__ = [
    "Comparison",
    "EdgeConfusion",
    "LogPartition",
    "ModelCheck",
    "RocCurve",
    "centrality",
    "check_model",
    "communities",
    "edge_confusion",
    "log_partition",
    "node_table",
    "relative_difference",
    "roc_curve",
    "weight_correlation",
]
