"""
Missing answers
===============

A fifth of the cells are missing, and hardly any row is complete. Draw the missing cells from the network several
times.
"""

import matplotlib.pyplot as plt
import numpy as np

from isinglass import IsingNetwork, impute, plot, simulate

truth = simulate.chain_network(10, strength=1.8, fields="balanced")
X = simulate.exact_sample(truth, 600, random_state=0).astype(float)
X[np.random.default_rng(1).random(X.shape) < 0.2] = np.nan
holes = np.isnan(X)
print(f"{holes.mean():.0%} of the cells are missing, {(~holes).all(axis=1).mean():.0%} of the rows are complete")

imputed = impute(X)
imputed

# %%
# Any method takes the completed table. Reading missing cells as 0 gives a different network.

positions = np.column_stack([np.cos(angles := np.linspace(0, 2 * np.pi, 10, endpoint=False)), np.sin(angles)])
fig, axes = plt.subplots(1, 3, figsize=(11, 3.8))
networks = {
    "the truth": truth,
    "imputed": IsingNetwork().fit(imputed.table),
    "missing as 0": IsingNetwork().fit(np.nan_to_num(X)),
}
for ax, (title, network) in zip(axes, networks.items(), strict=True):
    plot.network(network, ax, positions=positions, legend=False, max_weight=2)
    ax.set_title(title)
