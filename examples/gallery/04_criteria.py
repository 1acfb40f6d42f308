"""
What the criteria choose
========================

EBIC, cross-validation, stability or the default? See their choices side by side before you argue about them.
"""

import matplotlib.pyplot as plt

from isinglass import ising_path, plot, read_table, two_stage
from isinglass.select import compare_criteria

survey = read_table("../mood.csv", encode="auto", missing="drop", drop=["weight"])
default = two_stage(survey)
compared = compare_criteria(survey, others={"default": default}, n_folds=5, random_state=0)
compared

# %%
# The answers were drawn from a network of eleven edges. The best prediction keeps three times as many. The default
# has few edges and couplings that are not shrunken: its EBIC is the smallest.

fig, axes = plt.subplots(1, 2, figsize=(10, 4.5))
plot.network(default.solution, axes[0], names=survey.names, legend=False)
axes[0].set_title("default: two stages")
dense = compared.alpha[compared.criterion.index("CV best")]
plot.network(ising_path(survey, [dense])[0], axes[1], legend=False)
axes[1].set_title("best prediction")
