"""How close a network is to another one, and what a network says about its nodes."""

from isinglass.evaluate.centrality import Centrality, centrality
from isinglass.evaluate.communities import communities, modularity
from isinglass.evaluate.nodes import NodeTable, node_table
from isinglass.evaluate.recovery import (
    EdgeConfusion,
    RocCurve,
    edge_confusion,
    f1_score,
    hamming_distance,
    matthews_correlation,
    relative_difference,
    roc_curve,
    sign_accuracy,
    weight_correlation,
)

__all__ = [
    "Centrality",
    "EdgeConfusion",
    "NodeTable",
    "RocCurve",
    "centrality",
    "communities",
    "edge_confusion",
    "f1_score",
    "hamming_distance",
    "matthews_correlation",
    "modularity",
    "node_table",
    "relative_difference",
    "roc_curve",
    "sign_accuracy",
    "weight_correlation",
]
