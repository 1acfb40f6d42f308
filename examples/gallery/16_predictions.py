"""
Predicting answers
==================

How well do the other answers of a row predict each answer? And what would a respondent who skipped a question have
answered?
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from isinglass import IsingLassoCV, metrics
from isinglass.datasets import load_senate109

senate = load_senate109()
votes = pd.DataFrame(senate.X, columns=senate.names)
train, test = train_test_split(votes, test_size=80, random_state=0)
net = IsingLassoCV(15, cv=5, random_state=0).fit(train)
print(f"right about {(net.predict(test) == test).to_numpy().mean():.1%} of the votes in 80 other roll calls")

# %%
# The table compares guessing the more frequent vote with predicting it by the network from the other 99 votes.

nodes = pd.DataFrame(metrics.node_table(test, net))
nodes[["name", "marginal_accuracy", "accuracy"]].sort_values("accuracy", ascending=False).head(10).round(2)

# %%
# Hide one vote in five and fill it in.

hidden = np.random.default_rng(0).random(test.shape) < 0.2
filled = net.impute(test.astype(float).mask(hidden))
print(f"{(filled == test).to_numpy()[hidden].mean():.1%} of the hidden votes were filled in correctly")
