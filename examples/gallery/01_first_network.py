"""
A first network
===============

Which answers of a survey go together directly? Read the file, fit, draw: nothing has to be chosen.
"""

import pandas as pd

from isinglass import IsingNetwork, plot

answers = pd.read_csv("../mood.csv", index_col="person").drop(columns="weight")
answers.head()

# %%
# The answers are words and a few are missing. ``encode`` and ``missing`` say what to do about that: find out which
# word means yes, and leave out the 48 people who skipped a question.

net = IsingNetwork(encode="auto", missing="drop").fit(answers)
pd.DataFrame(net.edges())[["source", "target", "coupling", "refitted", "std_error"]].round(2)

# %%
# Each edge is a pair of answers that still go together when the other eight are known. Colors stand for the domain
# that a question belongs to.

domains = pd.read_csv("../domains.csv", index_col="item")["domain"]
plot.network(net, groups=domains)
