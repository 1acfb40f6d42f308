"""
Who crosses the aisle?
======================

279 roll calls of the U.S. Senate in 2006. Which senators have edges to the other party, given the votes of all
others?
"""

import numpy as np
import pandas as pd

from isinglass import IsingLasso, plot
from isinglass.datasets import load_senate109

senate = load_senate109()
votes = pd.DataFrame(senate.X, columns=senate.names)
net = IsingLasso(alpha=0.06).fit(votes)
colors = {"R": "red", "D": "blue", "I": "green"}
ax = plot.paper_axes(180)
plot.network(net, ax, groups=senate.parties, group_colors=colors, edge_color="group", positive_only=True)

# %%
# The table shows the share of a senator's positive weight that goes to another party. Jeffords is the only independent;
# two others are between the parties.

positive = np.maximum(net.couplings_, 0)
parties = np.array(senate.parties)
across = (positive * (parties[:, None] != parties)).sum(axis=1) / positive.sum(axis=1)
pd.Series(across, index=senate.names).nlargest(4).round(2)
