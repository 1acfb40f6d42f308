"""
Intervals by the bootstrap
==========================

How much would the couplings move if other people had answered? Draw people with replacement and estimate again,
choice of the penalty included.
"""

from isinglass import bootstrap, plot, read_table

survey = read_table("../mood.csv", encode="auto", missing="drop", drop=["weight"])
resampled = bootstrap(survey, n_boot=60, random_state=0)

# %%
# Dots are the estimates, lines hold 95 % of the resamples, and the numbers on the right are the share of resamples
# that have the edge at all.

plot.bootstrap_intervals(resampled, n_edges=15)

# %%
# Two intervals may overlap although the difference is clear. The interval of the difference itself decides: blue
# where the edge in the row is larger, vermillion where it is smaller.

plot.bootstrap_differences(resampled, of="strength")
