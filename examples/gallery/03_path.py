"""
From no edges to all of them
============================

How does the network depend on the penalty? A path has the networks for a whole list of penalties.
"""

from isinglass import ising_path, plot, read_table

survey = read_table("../mood.csv", weights="weight", encode="auto", missing="drop")
path = ising_path(survey, alphas=50)
path

# %%
# Every line is the coupling of one pair. On the left the penalty is so large that there are no edges; the pairs with
# the strongest evidence enter first.

plot.path(path, n_labels=10)

# %%
# A path is a sequence of solutions, and each one is a network.

for solution in path[5:30:8]:
    print(f"alpha {solution.alpha:.3f}: {solution.n_edges} edges, {solution.network}")
