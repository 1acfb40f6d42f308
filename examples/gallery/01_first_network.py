"""
A first network
===============

Which answers of a survey are associated directly? Read the file, fit and draw; there is no penalty to choose.
"""

import pandas as pd

from isinglass import IsingNetwork, plot

answers = pd.read_csv("../mood.csv", index_col="person").drop(columns="weight")
answers.head()

# %%
# The answers are words and a few are missing. ``encode="auto"`` finds out which word means yes, and
# ``missing="drop"`` leaves out the 48 respondents who skipped a question.

net = IsingNetwork(encode="auto", missing="drop").fit(answers)
pd.DataFrame(net.edges())[["source", "target", "coupling", "refitted", "std_error"]].round(2)

# %%
# Each edge joins two answers that are still associated when the other eight are held fixed. Colors show the domain of
# a question.

domains = pd.read_csv("../domains.csv", index_col="item")["domain"]
plot.network(net, groups=domains)
