"""
Figures for print
=================

A journal asks for a width of 85 mm at 300 dots per inch, readable in gray. Labels are inside the nodes, and rings show
how well each node is predicted.
"""

import pandas as pd

from isinglass import IsingNetwork, metrics, plot, read_table

survey = read_table("../mood.csv", encode="auto", missing="drop", drop=["weight"])
net = IsingNetwork().fit(survey)
domains = pd.read_csv("../domains.csv", index_col="item")["domain"]
nodes = metrics.node_table(survey, net)
ax = plot.paper_axes(85)
plot.network(net, ax, groups=domains, inside=True, rings=nodes["accuracy"])

# %%
# ``ax.figure.savefig("figure.pdf")`` saves it as vector graphics. These are the strengths of the nodes in the same
# width:

plot.centrality(net, of=["strength", "expected_influence"], width=85)
