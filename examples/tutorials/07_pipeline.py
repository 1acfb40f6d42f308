"""
A model in a pipeline
=====================

A network is also a model of the joint distribution: it predicts every column from the others, fills in missing cells
and scores new rows. We take the roll calls of the U.S. Senate, search for the penalty that predicts best, and compare
with one logistic regression per column.

Split, search, score
--------------------
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV, train_test_split

from isinglass import IsingLasso
from isinglass.datasets import load_senate109

senate = load_senate109()
votes = pd.DataFrame(senate.X, columns=senate.names)
train, test = train_test_split(votes, test_size=0.3, random_state=0)
search = GridSearchCV(IsingLasso(), {"alpha": [0.005, 0.01, 0.02, 0.04, 0.08]}, cv=5).fit(train)
net = search.best_estimator_
print(
    f"alpha {search.best_params_['alpha']}: {net.score(test):.1f} per held-out roll call, {net.network_.n_edges} edges"
)

# %%
# The score is the log pseudo-likelihood of a row: the sum over its cells of the log-probability given the rest of the
# row. For comparison, this is the score without a network, when every senator's vote has the share of yeas as its
# probability:

share = train.mean().clip(0.01, 0.99)
alone = (test * np.log(share) + (1 - test) * np.log(1 - share)).sum(axis=1).mean()
print(f"independent columns: {alone:.1f}")

# %%
# Predict
# -------
#
# ``predict`` predicts every cell from the rest of its row, and ``predict_proba`` gives its probability. One logistic
# regression per column (with a ridge penalty that was not tuned) has 9900 coefficients, none of them zero, and does not
# predict better.

from sklearn.linear_model import LogisticRegression

right = net.predict(test) == test.to_numpy()
varied = [name for name in votes if train[name].nunique() > 1]
by_column = [
    LogisticRegression(C=0.1, max_iter=1000)
    .fit(train.drop(columns=name), train[name])
    .score(test.drop(columns=name), test[name])
    for name in varied
]
here = [name in varied for name in votes]
print(f"votes guessed right: {right[:, here].mean():.1%}, by {len(varied)} regressions {np.mean(by_column):.1%}")

# %%
# Are the probabilities calibrated? We group cells by their predicted probability and compute the share of yeas:

probability = net.predict_proba(test)
bins = pd.cut(probability.ravel(), [0, 0.1, 0.3, 0.5, 0.7, 0.9, 1])
calibration = pd.DataFrame({"predicted": probability.ravel(), "yea": test.to_numpy().ravel()})
calibration.groupby(bins, observed=True).agg(
    cells=("yea", "size"), predicted=("predicted", "mean"), yea=("yea", "mean")
).round(2)

# %%
# Fill in what is missing
# -----------------------

hidden = np.random.default_rng(0).random(test.shape) < 0.2
filled = net.impute(test.astype(float).mask(hidden))
print(f"{(filled.to_numpy() == test.to_numpy())[hidden].mean():.0%} of the hidden votes guessed right")

# %%
# Figure, table, paragraph
# ------------------------
#
# The network that predicts best has many edges. For a figure and a paper, use the default network, which has fewer:

from isinglass import IsingNetwork, export, plot

sparse = IsingNetwork().fit(train)
print(f"{sparse.network_.n_edges} edges instead of {net.network_.n_edges}, score {sparse.score(test):.1f}")
plot.network(sparse, plot.paper_axes(180), groups=senate.parties, group_colors={"R": "red", "D": "blue"})

# %%

import textwrap

strongest = {name: sparse.edges()[name][:5] for name in ("source", "target", "coupling", "refitted", "std_error")}
export.write_table(strongest, "-", "markdown", digits=2)
print()
print(textwrap.fill(sparse.methods_text(), 100))

# %%
# Into production
# ---------------
#
# A fit is saved without pickle and predicts the same to the last bit when it is loaded.

import tempfile
from pathlib import Path

from isinglass import load

file = Path(tempfile.mkdtemp()) / "senate.npz"
net.fit_.save(file)
print(f"{file.stat().st_size / 1e3:.0f} kB, same predictions: {(load(file).predict_proba(test) == probability).all()}")

# %%
# What to read next: :doc:`estimators and scikit-learn's tools </estimators>`, :doc:`large tables
# </tutorials/06_large_table>`, :doc:`graphics processors </benchmarks/device>`.
