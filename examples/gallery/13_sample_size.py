"""
How many people do I need?
==========================

Treat a plausible network as true, draw tables of several sizes from it, and see how well each recovers it.
"""

from isinglass import plot, simulate
from isinglass.select import sample_size

plausible = simulate.grid_network(3, 4, strength=1.0, fields="balanced")
study = sample_size(plausible, [100, 200, 400, 800, 1600], n_repeats=8, random_state=0)
plot.sample_size(study)

# %%
# The smallest size at which, on average, 80 % of the edges are found:

study.rows_for("sensitivity", 0.8)
