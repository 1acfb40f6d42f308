"""
Edges that survive another sample
=================================

With many columns, which edges would a slightly different table have given too? StARS asks twenty subsamples.
"""

from isinglass import plot, stars
from isinglass.datasets import load_senate109

senate = load_senate109()
chosen = stars(senate.X, random_state=0)
chosen

# %%
# The instability is how much the subsamples disagree about the edges. The choice is the smallest penalty before it
# first exceeds the threshold.

plot.instability(chosen)

# %%
# The share of subsamples with each edge, senators with similar neighbors side by side: the two blocks are the
# parties.

plot.edge_frequencies(chosen, names=senate.names)
