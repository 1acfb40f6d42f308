"""
A large table
=============

What changes when a table has hundreds of thousands of rows, or is in many files? The calls hardly change. This page
shows the time to expect, and that the result is the same.

Rows are cheap
--------------

100 000 rows, 30 columns. An estimate needs only sums over rows, and equal rows are merged, so the time grows at most in
proportion to their number.
"""

import time

import numpy as np

from isinglass import ising_path, simulate

truth = simulate.grid_network(5, 6, strength=0.8, couplings="mixed", fields="balanced", random_state=0)
X = simulate.gibbs_sample(truth, 100_000, random_state=0)
for n in (2_000, 20_000, 100_000):
    start = time.perf_counter()
    path = ising_path(X[:n], alphas=20)
    print(f"{n:7} rows: {time.perf_counter() - start:5.2f} s for 20 penalties, all converged: {path.converged.all()}")

# %%
# With this many rows, some of the penalties recover the network exactly:

from isinglass import metrics

print(metrics.edge_confusion(path[-1].network, truth))
best = max(path, key=lambda solution: metrics.edge_confusion(solution, truth).f1)
print(f"at alpha {best.alpha:.3f}: {metrics.edge_confusion(best.network, truth)}")

# %%
# The network is a grid.

from isinglass import plot

plot.network(best, legend=False)

# %%
# The same table in files
# -----------------------
#
# Surveys come in waves, logs in days. A pattern names the files. The names and coding of the columns are those of the
# first file; if another file does not match, an error names it.

import tempfile
from pathlib import Path

import pandas as pd

from isinglass import read_parts

folder = Path(tempfile.mkdtemp())
for k, rows in enumerate(np.array_split(X, 6)):
    pd.DataFrame(rows, columns=truth.names).to_parquet(folder / f"day-{k}.parquet")
table = read_parts(str(folder / "*.parquet"))
in_parts = ising_path(table, alphas=[best.alpha])[0]
print(f"{in_parts.n_edges} edges, largest difference {abs(in_parts.couplings - best.couplings).max():.0e}")

# %%
# If a ``Client()`` of ``dask.distributed`` is open, the same two lines read the files on its workers, where the rows
# stay. The result does not depend on the number of workers; another division into files changes it only within the
# tolerance.
#
# Sparse tables
# -------------
#
# Shopping baskets and mutations are mostly zeros. A sparse matrix never takes more than one byte per cell when it is
# read.

import scipy.sparse as sp

from isinglass import Network

together = np.arange(400).reshape(200, 2)  # 200 pairs of items that are bought together
wide = Network(np.full(400, -3.0), together, np.full(200, 2.0))
baskets = sp.csr_array(simulate.gibbs_sample(wide, 5_000, random_state=0))
start = time.perf_counter()
solution = ising_path(baskets, alphas=[0.05], penalty_weights="standardized")[0]
print(f"{baskets.shape[0]} × {baskets.shape[1]}, {baskets.nnz} ones: {time.perf_counter() - start:.2f} s")
print(
    f"{solution.n_edges} edges among {400 * 399 // 2} pairs; {solution.certified_zeros} pairs are proved to have none"
)

# %%
# The certificate covers all pairs, including those that screening left out.
#
# Measurements with millions of rows and on graphics processors: :doc:`/scale`, :doc:`/benchmarks/device`.
