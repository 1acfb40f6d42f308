"""
A large table
=============

What changes when a table has hundreds of thousands of rows, or lies in many files? Hardly anything in the calls;
this page shows what to expect of time and memory, and how to be sure that nothing was lost on the way.

Rows are cheap
--------------

100 000 rows, 30 columns. Everything is summed over rows, and equal rows are merged: time grows no faster than
their number.
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
# With so many rows the network is no longer in doubt:

from isinglass import metrics

print(metrics.edge_confusion(path[-1].network, truth))
best = max(path, key=lambda solution: metrics.f1_score(solution, truth))
print(f"at alpha {best.alpha:.3f}: {metrics.edge_confusion(best.network, truth)}")

# %%
# It looks like what it is, a grid.

from isinglass import plot

plot.network(best, legend=False)

# %%
# The same table in files
# -----------------------
#
# Surveys come in waves, logs in days. A pattern names the files; names and coding of the columns are those of the
# first file, and a file that does not fit them is an error that names it.

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
# With ``Client()`` of ``dask.distributed`` open, the same two lines read the files on its workers, where the rows
# stay. The bits of the result depend on how the table is cut and not on the number of workers.
#
# Sparse tables
# -------------
#
# Shopping baskets and mutations are mostly zeros. A sparse matrix is read without being expanded to more than a
# byte per cell.

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
# The certificate is over all pairs, also those that screening never looked at twice.
#
# What was measured on millions of rows and on graphics processors: :doc:`/scale`, :doc:`/benchmarks/device`.
