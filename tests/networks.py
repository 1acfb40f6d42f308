"""Networks and tables written down category by category, for tests."""

import numpy as np

from isinglass import Network, Table, Variables
from isinglass.data.meaning.scores import scores_from_lowest
from isinglass.select.refit import free_estimate


def make_network(category_fields, scores, edge_index, edge_values=None, names=None, *, categories=None, blocks=None):
    """Return a network from the fields of all categories, the scores of every node (None: nominal) and blocks."""
    values = [len(field) for field in category_fields] if categories is None else categories
    kinds = ["nominal" if score is None else "ordinal" for score in scores]
    fields = [np.asarray(field, dtype=np.float64)[1:] - field[0] for field in category_fields]
    variables = Variables.of(values, kinds, scores, names)
    return Network(fields, edge_index, edge_values, variables=variables, pair_parameters=blocks)


def split_fields(network):
    """Return the fields of all categories of every node, the first of each being 0."""
    return network.variables.split(network.category_fields)


def scores_of(network):
    """Return the scores of every node, None for a nominal one."""
    return [network.variables.score(s) for s in range(network.n_features)]


def log_probabilities(network, X):
    """Return log P(x_s = k | the rest) of every node: one array (rows, categories) each."""
    return [logs.T for logs in network.variables.split(network.log_conditionals(X))]


def from_lowest(scores):
    """Return scores as a table that was read has them: from the lowest on."""
    are_distinct = scores is not None and len(set(scores)) == len(scores)
    return scores_from_lowest(scores, len(scores), "a column") if are_distinct else scores


def make_table(codes, kinds="binary", scores=None, categories=None, names=None, **known):
    """Return a table of category numbers; a column has the categories that occur unless it is said how many it has."""
    codes = np.asarray(codes, dtype=np.uint8)
    p = codes.shape[1]
    most = [max(top + 1, 2) for top in codes.max(axis=0).tolist()]
    points = [None] * p if scores is None else [from_lowest(score) for score in scores]
    given = [None] * p if categories is None else list(categories)
    sizes = [
        values if values is not None else max(q, 0 if score is None else len(score))
        for values, q, score in zip(given, most, points, strict=True)
    ]
    return Table(codes, Variables.of(sizes, kinds, points, names), **known)


def refit_edges(table, solution):
    """Return the nearly free couplings on the pairs of a solution, and their standard errors."""
    return [each[solution.network.n_features :] for each in free_estimate(table, solution)]


def by_pair(tests):
    """Return what `edge_tests` found in the order of the pairs, for at most ten columns without names."""
    return tests.take(np.lexsort((tests["target"], tests["source"])))
