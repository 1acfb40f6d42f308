"""
From no edges to all of them
============================

How does the network depend on the penalty? A path answers for all penalties at once.
"""

from isinglass import ising_path, plot, read_table

survey = read_table("../mood.csv", weights="weight", encode="auto", missing="drop")
path = ising_path(survey, alphas=50)
path

# %%
# Every line is the coupling of one pair. On the left the penalty is so large that no edge is left; pairs enter in
# the order of their evidence.

plot.path(path, n_labels=10)

# %%
# A path is a sequence of solutions, and each one is a network.

for solution in path[5:30:8]:
    print(f"alpha {solution.alpha:.3f}: {solution.n_edges} edges, {solution.network}")
