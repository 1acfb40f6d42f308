"""
Communities
===========

Which questions form clusters, and which of them are bridges between clusters?
"""

import pandas as pd

from isinglass import IsingNetwork, metrics, plot, read_table

survey = read_table("../mood.csv", encode="auto", missing="impute", weights="weight")
net = IsingNetwork().fit(survey)
members = metrics.communities(net, random_state=0)
pd.crosstab(pd.read_csv("../domains.csv")["domain"], members, colnames=["community"])

# %%
# Colors are the communities that Louvain's method finds in the network; the survey's own domains are in the table
# above.

plot.network(net, groups=[f"community {k + 1}" for k in members])

# %%
# Bridge strength is the weight of the edges that lead to other communities.

metrics.centrality(net, communities=members)
