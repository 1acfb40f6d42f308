"""
A table of mutations
====================

Which genes are mutated together, and which exclude each other? Tables of mutations are wide, sparse and full of
rare columns, and marginal counts mislead: two genes may look associated because both depend on a third, or because some
tumors have many mutations of every kind. The table is simulated, so we know the true network.

A sparse table
--------------

600 tumors and 60 genes. Five pairs are coupled, one of them negatively, as when a first mutation in a pathway makes a
second one useless.
"""

import numpy as np
import scipy.sparse as sp

from isinglass import Network, simulate

genes = [f"G{k:02d}" for k in range(60)]
true = {(0, 1): 2.0, (1, 2): 2.0, (3, 4): -3.0, (5, 6): 1.8, (7, 8): 2.2}
couplings = np.zeros((60, 60))
for (s, t), coupling in true.items():
    couplings[s, t] = couplings[t, s] = coupling
fields = np.full(60, -2.5)
fields[[3, 4]] = -0.3
genome = Network.from_couplings(couplings, fields, names=genes)
mutations = sp.csr_array(simulate.gibbs_sample(genome, 600, random_state=3))
print(f"{mutations.shape[0]} × {mutations.shape[1]} cells, {mutations.mean():.0%} of them 1")

# %%
# What counting pairs gives
# -------------------------
#
# G00 and G02 are not coupled, but both depend on G01: their counts suggest an association between them.

from isinglass import as_table

table = as_table(mutations, names=genes)


def log_odds_ratio(s: int, t: int) -> float:
    """Return the marginal log odds ratio of two columns, with half a tumor added to every count."""
    a, b = table.codes[:, s], table.codes[:, t]
    counts = np.array([[((a == i) & (b == j)).sum() for j in (0, 1)] for i in (0, 1)]) + 0.5
    return float(np.log(counts[0, 0] * counts[1, 1] / (counts[0, 1] * counts[1, 0])))


for s, t in [(0, 1), (1, 2), (0, 2), (3, 4)]:
    print(f"{genes[s]} {genes[t]}: log odds ratio {log_odds_ratio(s, t):+.1f}, true coupling {couplings[s, t]:+.1f}")

# %%
# A fair chance for rare genes
# ----------------------------
#
# The default, :class:`~isinglass.IsingNetwork`, is the estimator to begin with; the second half of this page uses it.
# Here we want a list of pairs to follow up in the laboratory, in which a false pair is expensive. StARS suits this: it
# keeps the edges on which subsamples of the tumors agree, gives every edge the share of subsamples that have it, and
# was designed for many columns like these.
#
# The penalty is compared with covariances, and those of a rare column are small. With
# ``penalty_weights="standardized"`` the penalty is proportional to the standard deviations: a rare gene then needs no
# stronger coupling than a frequent one.

from isinglass import IsingLassoStARS

net = IsingLassoStARS(penalty_weights="standardized", random_state=0).fit(table)
edges = net.edges()
for source, target, coupling, share in zip(
    *(edges[k] for k in ("source", "target", "coupling", "stability")), strict=True
):
    print(f"{source} {target} {coupling:+.1f}, in {share:.0%} of the subsamples")

# %%
# Couplings are shrunken by the penalty. :func:`~isinglass.refit` estimates them again without it, with standard
# errors that treat the edges as given.

from isinglass import refit

again = refit(table, net.fit_.solution)
for (s, t), value, error in zip(net.fit_.solution.edge_index, again.edge_values, again.edge_errors, strict=True):
    print(f"{genes[s]} {genes[t]}: {value:+.2f} ± {error:.2f}, true {couplings[s, t]:+.1f}")

# %%
# The figure shows the genes that have edges. Negative couplings (mutually exclusive pairs) are dashed.

from isinglass import plot

solution = net.fit_.solution
kept = np.unique(solution.edge_index)
part = Network.from_couplings(solution.couplings[np.ix_(kept, kept)], solution.fields[kept], [genes[k] for k in kept])
plot.network(part)

# %%
# Tumors that mutate everywhere
# -----------------------------
#
# In one tumor of eight DNA repair has failed, and many genes are mutated at random. Such tumors make every pair
# co-occur. Adjusting for a column that flags them, as a covariate, removes this: the remaining edges are co-occurrence
# (positive) and mutual exclusivity (negative) beyond the mutation burden.

from isinglass import IsingNetwork

rng = np.random.default_rng(0)
repair_failed = rng.random(600) < 0.125
hits = table.codes | (repair_failed[:, None] & (rng.random(table.shape) < 0.4))
burdened = np.column_stack([hits, repair_failed]).astype(np.uint8)
names = [*genes, "repair failed"]
raw = IsingNetwork().fit(as_table(burdened[:, :-1], names=genes))
adjusted = IsingNetwork(covariates=["repair failed"]).fit(as_table(burdened, names=names))
found = adjusted.edges()
print(f"{raw.network_.n_edges} edges, {adjusted.network_.n_edges} given the flag:")
for source, target, coupling in zip(found["source"], found["target"], found["coupling"], strict=True):
    print(f"{source} {target} {coupling:+.1f}: {'co-occurrence' if coupling > 0 else 'mutual exclusivity'}")

# %%
# For the paper
# -------------
#
# We make a figure of one journal column, a table and a methods paragraph. The table has the unpenalized couplings;
# their standard errors treat the choice of edges as given. The paragraph says which criterion chose the edges.

plot.network(part, plot.paper_axes(85))

# %%

import textwrap

from isinglass import export

order = solution.network.by_strength  # that of edges()
printed = {
    **{name: edges[name] for name in ("source", "target")},
    "coupling": again.edge_values[order],
    "std_error": again.edge_errors[order],
    "stability": edges["stability"],
}
export.write_table(printed, "-", "markdown", digits=2)
print()
print(textwrap.fill(net.methods_text(), 100))

# %%
# ``export.write_network(net, "genes.gexf")`` is for Gephi, :doc:`GraphML </networks>` for Cytoscape, and a table that
# ends in ``.tex`` or ``.csv`` for LaTeX or a supplement.
#
# On real tumors
# --------------
#
# - Leave out genes with fewer than ten mutations: they are too rare for any conclusion. A warning names columns that
#   are constant.
# - Adjust for common causes of many mutations: the subtype, the center, the burden. As covariates they are conditioned
#   on without a penalty and are not nodes of the network; see :doc:`/covariates`.
# - For a false discovery rate, fit with ``IsingNetwork(fdr=0.1)``: the column ``q`` of ``edges()`` has the q-values of
#   the edges; see :doc:`how far to trust it </trusting>`.
# - Files with one line per gene: ``as_table(pandas.read_csv(file, index_col=0).T)``.
