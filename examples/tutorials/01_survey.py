"""
A survey
========

500 people answered ten questions about mood with yes or no. We go from the file to a figure, a page for the
coauthors, and a statement about how much of it another sample would repeat. The answers are made up
(``examples/mood.py``), which has an advantage: at the end we can look up the truth.

Look at the table
-----------------
"""

import pandas as pd

from isinglass import read_table

raw = pd.read_csv("../mood.csv")
raw.head()

# %%
# Three things are not answers yet: ``person`` names the rows, ``weight`` is a survey weight, and the answers are
# words, a few of them missing. :func:`~isinglass.read_table` wants to be told about each of them, and guesses
# nothing silently.

survey = read_table("../mood.csv", weights="weight", encode="auto", missing="impute")
survey

# %%
# Which word became 1?

survey.encoding["sad"]

# %%
# Impute or drop?
# ---------------
#
# One cell in a hundred is missing, but one person in ten skipped something. Dropping these people would cost a
# tenth of the table. ``missing="impute"`` keeps them: their missing answers are drawn from the network, ten times,
# and each copy counts a tenth. That is right if whether an answer is missing depends on nothing but the other
# answers; a question that people skip *because* of their answer is another matter.
#
# Estimate
# --------
#
# :class:`~isinglass.IsingNetwork` has nothing to choose. It estimates in two stages: a first network that misses
# little, a second one that keeps what is needed and hardly shrinks it.

from isinglass import IsingNetwork

net = IsingNetwork().fit(survey)
edges = pd.DataFrame(net.edges())
edges[["source", "target", "coupling", "refitted", "std_error"]].round(2)

# %%
# A coupling of 1.5 multiplies the odds of one answer by exp(1.5), about 4.5, if the other answer is yes and all
# the rest is equal. ``refitted`` is the coupling without the penalty, which
# shrinks it, and ``std_error`` its standard error; it treats the choice of edges as given.
# Pairs that are not listed have a coupling of zero: they may well be correlated, but others explain why.

from isinglass import plot

domains = pd.read_csv("../domains.csv", index_col="item")["domain"]
plot.network(net, groups=domains)

# %%
# The fit is the minimum of a convex problem, and says so:

solution = net.fit_.solution
print(
    f"converged: {solution.converged}, KKT residual {solution.kkt_residual:.0e}, duality gap {solution.duality_gap:.0e}"
)

# %%
# How much of it would another sample repeat?
# -------------------------------------------
#
# The certificate is about this table. For the next one, resample people and estimate again from scratch. (To keep
# this page fast: people without missing answers, 60 resamples. Take 1000 for a paper.)

from isinglass import bootstrap

answered = read_table("../mood.csv", encode="auto", missing="drop", drop=["weight"])
resampled = bootstrap(answered, n_boot=60, random_state=0)
plot.bootstrap_intervals(resampled, n_edges=14)

# %%
# Would the order of nodes and edges stay with fewer people? Leave out more and more of them. The CS-coefficient is
# the largest share that can be left out while the correlation with the whole table stays above 0.7.

dropped = bootstrap(answered, n_boot=70, kind="case-drop", reselect=False, random_state=0)
plot.stability(dropped)

# %%
# For the paper
# -------------
#
# The paragraph for the methods section says what was done, in the words of a paper, with the number of people, what
# chose the network and which answer is 1. ``net.methods_text(resampled)`` would add a bootstrap of the same table. The
# references that belong to it are on the report page.

import textwrap

print(textwrap.fill(net.methods_text(), 100))

# %%
# Tables are rounded and have the headings that readers know; files that end in ``.tex`` or ``.csv`` work the same way.

from isinglass import export

columns = ("source", "target", "coupling", "refitted", "std_error")
export.write_table({name: net.edges()[name][:5] for name in columns}, "-", "markdown", digits=2)

# %%
# The truth
# ---------
#
# The answers were drawn from eleven couplings. What the network lacks are the weak ones: 500 people do not show a
# coupling of 0.9 or less reliably. An edge that is missing from a network is no proof that there is none.

from isinglass.datasets.mood import COUPLINGS

found = {frozenset(pair) for pair in zip(edges["source"], edges["target"], strict=True)}
truth = pd.DataFrame(
    [(*pair, coupling, frozenset(pair) in found) for pair, coupling in COUPLINGS.items()],
    columns=["source", "target", "true coupling", "found"],
)
print(f"{truth['found'].sum()} of {len(truth)} true edges found, and {len(found) - truth['found'].sum()} others")
truth.sort_values("true coupling", ascending=False)

# %%
# Pass it on
# ----------
#
# One page for the coauthors, one file for Gephi, one for Python. The same from a shell: ``isinglass fit
# mood.csv``, ``isinglass report``.

import tempfile
from pathlib import Path

from isinglass import report

folder = Path(tempfile.mkdtemp())
report.write_report(net, folder / "mood.html", groups=domains, title="Ten questions about mood")
export.write_network(net, folder / "mood.gexf", node_attributes={"domain": domains}, color_by="domain")
net.fit_.save(folder / "mood.npz")
print(*sorted(file.name for file in folder.iterdir()))

# %%
# Where to go on: :doc:`comparing groups </groups>`, :doc:`missing answers </missing>`, :doc:`what R's IsingFit
# calls all this </coming-from-r>`.
