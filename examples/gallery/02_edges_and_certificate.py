"""
Reading edges and certificate
=============================

What do the numbers of an edge mean, and how do I know that the fit has converged?
"""

import numpy as np
import pandas as pd

from isinglass import IsingNetwork, read_table

survey = read_table("../mood.csv", weights="weight", encode="auto", missing="drop")
net = IsingNetwork().fit(survey)
edges = pd.DataFrame(net.edges())
edges[["source", "target", "coupling", "refitted", "std_error", "log_odds_ratio"]].round(2)

# %%
# ``coupling`` is a log odds ratio *given all other answers*. Its exponential is an odds ratio: the odds of having lost
# interest for a sad respondent, relative to one who is not sad but gives the same other answers. ``log_odds_ratio`` is
# the marginal log odds ratio, which includes indirect paths.

edges["odds ratio"] = np.exp(edges["coupling"])
edges[["source", "target", "odds ratio"]].head(3).round(1)

# %%
# The certificate is about the computation, not about another sample: these couplings are the minimum of a convex
# problem, up to the tolerance, over all 45 pairs.

solution = net.fit_.solution
print(f"converged: {solution.converged}")
print(f"largest violation of the optimality conditions: {solution.kkt_residual:.1e}")
print(f"objective above its minimum by at most {solution.duality_gap:.1e}")

# %%
# Every solution of a path has a certificate; the report shows all of them.

from isinglass import ising_path

path = ising_path(survey, alphas=30)
print(f"all converged: {path.converged.all()}, largest duality gap {path.duality_gap.max():.1e}")
