"""
A survey
========

500 respondents answered ten questions about mood with yes or no. We go from the file to a figure, a report for the
coauthors, and an assessment of how far another sample would give the same network. The answers are simulated
(``examples/mood.py``), so at the end we can compare the network with the true one.

Look at the table
-----------------
"""

import pandas as pd

from isinglass import read_table

raw = pd.read_csv("../mood.csv")
raw.head()

# %%
# ``person`` names the rows, ``weight`` is a survey weight, and the answers are words, a few of them missing.
# :func:`~isinglass.read_table` guesses nothing silently: we say what to do with each.

survey = read_table("../mood.csv", weights="weight", encode="auto", missing="impute")
survey

# %%
# Which word became 1?

survey.encoding["sad"]

# %%
# Impute or drop?
# ---------------
#
# One cell in a hundred is missing, but one respondent in ten skipped a question. Dropping these respondents would
# cost a tenth of the table. ``missing="impute"`` keeps them: their missing answers are drawn from the network ten
# times, and each copy has a tenth of the weight. This is valid if whether an answer is missing depends only on the
# other answers. It is not valid if respondents skip a question *because* of their answer.
#
# Estimate
# --------
#
# :class:`~isinglass.IsingNetwork` selects the penalty itself. It estimates in two stages: a first network that misses
# few edges, and a second one that keeps the edges that are needed and hardly shrinks them.

from isinglass import IsingNetwork

net = IsingNetwork().fit(survey)
edges = pd.DataFrame(net.edges())
edges[["source", "target", "coupling", "refitted", "std_error"]].round(2)

# %%
# With a coupling (edge weight) of 1.5, a yes to one question multiplies the odds of a yes to the other by exp(1.5),
# about 4.5, if all other answers are equal. ``refitted`` is the coupling estimated without the penalty, and
# ``std_error`` its standard error, which treats the choice of edges as given.
# Pairs that are not listed have a coupling of zero: they may be correlated, but only through other questions.

from isinglass import plot

domains = pd.read_csv("../domains.csv", index_col="item")["domain"]
plot.network(net, groups=domains)

# %%
# The fit is the minimum of a convex problem, and the certificate shows that it was reached:

solution = net.fit_.solution
print(
    f"converged: {solution.converged}, KKT residual {solution.kkt_residual:.0e}, duality gap {solution.duality_gap:.0e}"
)

# %%
# How much of it would another sample repeat?
# -------------------------------------------
#
# The certificate is about this table. To see how much another sample would change the network, resample the
# respondents and estimate again. (To keep this page fast, we take only complete rows, without their weights, and 60
# resamples. Use the whole table and 1000 resamples for a paper.)

from isinglass import bootstrap

answered = read_table("../mood.csv", encode="auto", missing="drop", drop=["weight"])
resampled = bootstrap(answered, n_boot=60, random_state=0)
plot.bootstrap_intervals(resampled, n_edges=14)

# %%
# Is the order of nodes and edges stable with fewer respondents? Leave out more and more of them. The CS-coefficient
# is the largest share that can be left out while the correlation with the whole table stays at least 0.7 with
# probability 95 %. There are 7 subsets per share here, which is quick; a paper needs 50 or more (``n_boot=500``).

dropped = bootstrap(answered, n_boot=70, kind="case-drop", reselect=False, random_state=0)
plot.stability(dropped)

# %%
# For the paper
# -------------
#
# ``methods_text`` writes a paragraph for the methods section, with the number of respondents, how the network was
# chosen and which answer is 1. ``net.methods_text(resampled)`` would add a bootstrap of the same table. The
# references are in the report.

import textwrap

print(textwrap.fill(net.methods_text(), 100))

# %%
# Tables are rounded and have the usual headings; names that end in ``.tex`` or ``.csv`` give LaTeX or CSV.

from isinglass import export

columns = ("source", "target", "coupling", "refitted", "std_error")
export.write_table({name: net.edges()[name][:5] for name in columns}, "-", "markdown", digits=2)

# %%
# The truth
# ---------
#
# The answers were simulated from a network with eleven edges. The edges that were not found are weak: with 500
# respondents a coupling of 0.9 or less is not found reliably. A missing edge does not prove that there is none.

import runpy

couplings = runpy.run_path("../mood.py")["COUPLINGS"]
found = {frozenset(pair) for pair in zip(edges["source"], edges["target"], strict=True)}
truth = pd.DataFrame(
    [(*pair, coupling, frozenset(pair) in found) for pair, coupling in couplings.items()],
    columns=["source", "target", "true coupling", "found"],
)
print(f"{truth['found'].sum()} of {len(truth)} true edges found, and {len(found) - truth['found'].sum()} others")
truth.sort_values("true coupling", ascending=False)

# %%
# Pass it on
# ----------
#
# We write a report for the coauthors, a file for Gephi and one for Python. In a shell,
# ``isinglass fit mood.csv --weights weight --encode auto --missing impute -o mood`` estimates the same network and
# ``isinglass report mood mood.csv`` writes the report.

import tempfile
from pathlib import Path

from isinglass import report

folder = Path(tempfile.mkdtemp())
report.write_report(net, folder / "mood.html", groups=domains, title="Ten questions about mood")
export.write_network(net, folder / "mood.gexf", node_attributes={"domain": domains}, color_by="domain")
net.fit_.save(folder / "mood.npz")
print(*sorted(file.name for file in folder.iterdir()))

# %%
# What to read next: :doc:`comparing groups </groups>`, :doc:`missing answers </missing>`, :doc:`what R's IsingFit
# calls all this </coming-from-r>`.
