"""
Comparing two groups
====================

Do women and men have the same network? Shuffle the labels many times and count how often the difference is as large as
the observed one. The two groups are simulated; one of seven couplings has the opposite sign in the second.
"""

import numpy as np
import pandas as pd

from isinglass import Network, compare_groups, plot, simulate

names = ["sad", "guilty", "tired", "sleepless", "worried", "restless", "tense", "irritable"]
women = simulate.chain_network(8, strength=1.5, fields="balanced").with_names(names)
values = women.edge_values.copy()
values[3] *= -1
men = Network(women.fields, women.edge_index, values, names)
rows = [simulate.exact_sample(network, 400, random_state=k) for k, network in enumerate((women, men))]
X = pd.DataFrame(np.vstack(rows), columns=names)
groups = ["women"] * 400 + ["men"] * 400

found = compare_groups(X, groups, n_permutations=199, random_state=0)
found

# %%
# Both networks have the same layout and the same scale of widths.

plot.group_networks(found)

# %%
# Men minus women: the edges that differ at a family-wise level of 5 %. The page of ``report.write_comparison`` also
# draws the distribution over permutations.

plot.group_difference(found, level=0.05)
