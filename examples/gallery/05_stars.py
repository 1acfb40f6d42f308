"""
Edges that survive another sample
=================================

With many columns, which edges would also be found in a slightly different table? StARS uses twenty subsamples.
"""

import numpy as np

from isinglass import Method, Network, StARS, plot
from isinglass.datasets import load_senate109

senate = load_senate109()
chosen = Method(selector=StARS()).choose(senate.X).stability
chosen

# %%
# The instability measures how much the subsamples disagree about the edges. Going from large to small penalties, the
# choice is the last one before it first exceeds the threshold; the report draws the whole curve.

print(f"instability {chosen.monotone[chosen.index]:.3f} at alpha {chosen.alpha:.3f}, threshold {chosen.threshold}")

# %%
# The figure shows the edges that are in at least nine of ten subsamples. Widths are these shares.

shares = chosen.frequencies()
often = Network.from_couplings(np.where(shares >= 0.9, shares, 0.0), names=senate.names)
colors = {"R": "red", "D": "blue", "I": "green"}
plot.network(often, groups=senate.parties, group_colors=colors, edge_color="group")
