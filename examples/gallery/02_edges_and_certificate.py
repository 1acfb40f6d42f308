"""
Reading edges and certificate
=============================

What do the numbers of an edge say, and how do I know that the fit is finished?
"""

import numpy as np
import pandas as pd

from isinglass import IsingNetwork, read_table

survey = read_table("../mood.csv", weights="weight", encode="auto", missing="drop")
net = IsingNetwork().fit(survey)
edges = pd.DataFrame(net.edges())
edges[["source", "target", "coupling", "refitted", "std_error", "log_odds_ratio"]].round(2)

# %%
# ``coupling`` is a log odds ratio *given all other answers*. Its exponential reads like any odds ratio: somebody
# who is sad has so many times the odds to have lost interest, everything else being equal. ``log_odds_ratio`` is
# the same without looking at the other answers, and also counts the ways around.

edges["odds ratio"] = np.exp(edges["coupling"])
edges[["source", "target", "odds ratio"]].head(3).round(1)

# %%
# The certificate belongs to the fit, not to the world: these couplings are the minimum of a convex problem, up to
# the tolerance, and no pair among all 45 was overlooked.

solution = net.fit_.solution
print(f"converged: {solution.converged}")
print(f"largest violation of the optimality conditions: {solution.kkt_residual:.1e}")
print(f"objective above its minimum by at most {solution.duality_gap:.1e}")

# %%
# Along a whole path, every solution has one; the report shows them all.

from isinglass import ising_path

path = ising_path(survey, alphas=30)
print(f"all converged: {path.converged.all()}, largest duality gap {path.duality_gap.max():.1e}")
