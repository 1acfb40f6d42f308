"""
Roll calls
==========

Which senators vote alike, given the votes of all others? The table is that of the paper on which this package is
based: 279 roll calls of the U.S. Senate in 2006. It comes with the package.

Votes, absences and a decision
------------------------------
"""

import numpy as np
import pandas as pd

from isinglass.datasets import load_senate109

senate = load_senate109()
senate

# %%
# 801 votes were not cast. The paper counts them as nay, as does ``senate.X``; in ``senate.votes`` they are
# missing. Who is absent most often?

present = pd.DataFrame(senate.votes, columns=senate.names)
present.isna().sum().nlargest(4)

# %%
# The default network
# -------------------

from isinglass import IsingNetwork

votes = pd.DataFrame(senate.X, columns=senate.names)
net = IsingNetwork().fit(votes)
edges = pd.DataFrame(net.edges())
edges[["source", "target", "coupling"]].head(8).round(2)

# %%
# The strongest edges join two senators of the same state. How many edges are within a party?

party = dict(zip(senate.names, senate.parties, strict=True))
same = edges["source"].map(party) == edges["target"].map(party)
pd.crosstab(np.where(edges["coupling"] > 0, "positive", "negative"), np.where(same, "within a party", "across"))

# %%
# The paper's network
# -------------------
#
# The paper uses one penalty, 0.06. This network has more edges, with shrunken couplings.

from isinglass import IsingLasso

paper = IsingLasso(alpha=0.06).fit(votes)
paper.network_.n_edges, net.network_.n_edges

# %%
# The gallery draws it and shows :doc:`who crosses the aisle </gallery/10_roll_calls>`: Ben Nelson of Nebraska, a
# Democrat with most of his edges to Republicans, and Lincoln Chafee of Rhode Island, who is between the parties.

# %%
# Does it predict?
# ----------------
#
# We predict every vote from the other 99 of the same roll call, in roll calls that were left out of the fit:

from sklearn.model_selection import cross_val_predict, cross_val_score

scores = cross_val_score(IsingLasso(alpha=0.02), votes, cv=5)
guesses = cross_val_predict(IsingLasso(alpha=0.02), votes, cv=5)
print(f"log pseudo-likelihood per roll call: {scores.mean():.1f}")
print(f"votes guessed right: {(guesses == votes).to_numpy().mean():.1%}")
print(f"guessing the more frequent vote of each senator: {np.maximum(votes.mean(), 1 - votes.mean()).mean():.1%}")

# %%
# Do absences matter?
# -------------------
#
# Counting an absence as nay creates agreement between senators who were absent together. We impute the absences
# instead, and see which edges appear and disappear.

imputed = IsingLasso(alpha=0.06, missing="impute").fit(present)
before, after = paper.couplings_ != 0, imputed.couplings_ != 0
upper = np.triu_indices(100, 1)
both, gone, new = (found[upper].sum() for found in (before & after, before & ~after, ~before & after))
print(f"{both} edges in both, {gone} gone, {new} new")

# %%
# For an article
# --------------
#
# A methods paragraph and a table:

import textwrap

from isinglass import export

print(textwrap.fill(net.methods_text(), 100))
strongest = {name: net.edges()[name][:5] for name in ("source", "target", "coupling", "refitted", "std_error")}
export.write_table(strongest, "-", "markdown", digits=2)

# %%
# :doc:`Another page </paper>` has all tables and figures of the paper, recomputed.
