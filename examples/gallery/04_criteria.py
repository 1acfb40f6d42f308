"""
What the criteria choose
========================

EBIC, cross-validation, stability or the default? Compare what they choose for the same table.
"""

import matplotlib.pyplot as plt

from isinglass import EBIC, CrossValidation, StARS, TwoStage, select
from isinglass.datasets import load_senate109

votes = load_senate109().X
criteria = {
    "two-stage": TwoStage(),
    "EBIC γ=0": EBIC(gamma=0),
    "EBIC γ=0.25": EBIC(),
    "EBIC γ=0.5": EBIC(gamma=0.5),
    "CV best": CrossValidation(),
    "CV 1se": CrossValidation(rule="1se"),
    "StARS": StARS(),
    "the paper": 0.06,
}
compared = select.compare_criteria(votes, criteria)
compared

# %%
# More edges predict better, up to a point. The default (two-stage) is not on the curve of the others: its couplings
# are hardly shrunken, so it needs fewer edges for the same prediction. See :doc:`how the criteria differ </trusting>`.

ax = plt.figure(figsize=(7, 4.5)).add_subplot()
ax.plot(compared["edges"], compared["held_out"], "o", color="tab:blue")
for name, x, y in zip(compared["criterion"], compared["edges"], compared["held_out"], strict=True):
    if name not in ("EBIC γ=0", "EBIC γ=0.5"):  # next to γ = 0.25
        ax.annotate(name, (x, y), xytext=(6, -5), textcoords="offset points")
ax.set(xlabel="edges", ylabel="held-out log pseudo-likelihood per roll call", xlim=(200, 1450))
