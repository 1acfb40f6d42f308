"""
Intervals by the bootstrap
==========================

How much would the couplings change with other respondents? Draw respondents with replacement, and select and
estimate again.
"""

from isinglass import bootstrap, plot, read_table

survey = read_table("../mood.csv", encode="auto", missing="drop", drop=["weight"])
resampled = bootstrap(survey, n_boot=60, random_state=0)

# %%
# Dots are the estimates, lines contain 95 % of the resamples, and the numbers on the right are the share of resamples
# with the edge.

plot.bootstrap_intervals(resampled, n_edges=15)

# %%
# Two intervals may overlap although the difference is clear, so we use the interval of the difference: blue
# where the edge in the row is larger, vermillion where it is smaller.

plot.bootstrap_differences(resampled, of="strength")
