"""
Five-point scales
=================

Items with the answers "never" to "always" need not be cut into yes and no: say that their categories have an
order.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from isinglass import ising_path, plot

rng = np.random.default_rng(0)
low_mood, tension = rng.normal(size=(2, 800)) + 0.4 * rng.normal(size=800)
latent = {
    "sad": low_mood,
    "empty": low_mood,
    "tired": low_mood,
    "worried": tension,
    "tense": tension,
    "restless": tension,
}
items = pd.DataFrame(
    {name: np.digitize(z + rng.normal(size=800), [-1.5, -0.5, 0.5, 1.5]) for name, z in latent.items()}
)
items.head(3)

# %%
# Each pair has one signed coupling, per step of both scales, with the usual certificate.

path = ising_path(items, alphas=30, kinds="ordinal", penalty_weights="standardized")
print(f"all {len(path)} solutions converged: {path.converged.all()}")
ordinal = path[12]
binary = ising_path((items >= 3).astype(int), alphas=30, penalty_weights="standardized")[12]

fig, axes = plt.subplots(1, 2, figsize=(10, 4.5))
plot.network(ordinal, axes[0], legend=False)
axes[0].set_title("five categories")
plot.network(binary, axes[1], legend=False)
axes[1].set_title("cut into two")

# %%
# The model predicts categories: these are the probabilities of all five answers of the first respondent, given the
# other items.

chances = ordinal.network.probabilities(items.head(1))
pd.DataFrame(
    np.vstack(chances), index=items.columns, columns=["never", "rarely", "sometimes", "often", "always"]
).round(2)
