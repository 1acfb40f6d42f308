"""Networks written down category by category, for tests."""

import numpy as np

from isinglass import Network, Variables


def make_network(category_fields, scores, edge_index, edge_values=None, names=None, *, categories=None, blocks=None):
    """Return a network from the fields of all categories, the scores of every node (None: nominal) and blocks."""
    values = [len(field) for field in category_fields] if categories is None else categories
    kinds = ["nominal" if score is None else "ordinal" for score in scores]
    fields = [np.asarray(field, dtype=np.float64)[1:] - field[0] for field in category_fields]
    variables = Variables.of(values, kinds, scores, names)
    return Network(fields, edge_index, edge_values, variables=variables, parameters=blocks)


def split_fields(network):
    """Return the fields of all categories of every node, the first of each being 0."""
    return network.variables.split(network.category_fields)


def scores_of(network):
    """Return the scores of every node, None for a nominal one."""
    return [network.variables.score(s) for s in range(network.n_features)]


def log_probabilities(network, X):
    """Return log P(x_s = k | the rest) of every node: one array (rows, categories) each."""
    return [logs.T for logs in network.variables.split(network.log_conditionals(X))]
