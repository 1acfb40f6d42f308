"""
Words in texts
==============

Which words belong together? A document is a row, a word is a column, and a cell says whether the word occurs. The
documents are the docstrings of NumPy's functions, which every reader has installed.

Documents and words
-------------------
"""

import inspect

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

modules = [np, np.linalg, np.random, np.fft, np.polynomial.polynomial]
objects = {id(item): item for module in modules for _, item in inspect.getmembers(module) if callable(item)}
texts = [text for text in map(inspect.getdoc, objects.values()) if text and len(text) > 200]
vectorizer = CountVectorizer(binary=True, stop_words="english", token_pattern=r"[a-z]{4,}", max_features=60, max_df=0.4)
counts = vectorizer.fit_transform(texts)
words = vectorizer.get_feature_names_out()
print(f"{counts.shape[0]} texts, {counts.shape[1]} words: {', '.join(words[:12])}, …")

# %%
# The sparse matrix is used as it is.

from isinglass import IsingNetwork, as_table

table = as_table(counts, names=words)
net = IsingNetwork(penalty_weights="standardized").fit(table)
net

# %%
# Couplings and correlations
# --------------------------
#
# Long texts contain more words of every kind, and this alone makes words correlated. Couplings are conditional on all
# other words, which removes most of it.

X = table.codes
correlated = np.corrcoef(X, rowvar=False)[np.triu_indices(len(words), 1)]
print(f"{(abs(correlated) > 0.1).sum()} pairs with a correlation beyond 0.1")
print(f"{net.network_.n_edges} of {len(correlated)} pairs have an edge")
edges = net.edges()
for source, target, coupling in list(zip(edges["source"], edges["target"], edges["coupling"], strict=True))[:10]:
    print(f"{source} – {target}: {coupling:+.2f}")

# %%
# Topics
# ------
#
# The communities of the network are similar to topics: words that are coupled to each other more than to the rest.

from isinglass import metrics, plot

members = metrics.communities(net, random_state=0)
for topic in range(min(4, members.max() + 1)):
    print(f"{topic + 1}:", ", ".join(words[members == topic][:12]))

# %%
ax = plot.paper_axes(180)
plot.network(net, ax, groups=[f"topic {k + 1}" if k < 4 else "others" for k in members], positive_only=True)

# %%
# Dependence in texts is spread thinly over many pairs. The default detects this by predicting held-out texts, and may
# then return a denser network; ``keep=0`` always returns the sparse one.

sparse = IsingNetwork(penalty_weights="standardized", keep=0).fit(table)
print(f"{net.network_.n_edges} edges by default, {sparse.network_.n_edges} with keep=0")
