"""
A table in several files
========================

The rows are in several files, or do not fit into memory. The network and its certificate are the same.
"""

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from isinglass import ising_path, plot, read_parts, simulate

truth = simulate.grid_network(4, 5, strength=1.2, fields="balanced")
X = simulate.gibbs_sample(truth, 40_000, random_state=0)
folder = tempfile.TemporaryDirectory()
for k, rows in enumerate(np.array_split(X, 8)):
    pd.DataFrame(rows, columns=truth.names).to_parquet(Path(folder.name) / f"wave-{k}.parquet")

# %%
# A pattern names the files. With a Dask client, its workers would read and keep them.

table = read_parts(f"{folder.name}/*.parquet")
in_parts = ising_path(table, alphas=[0.05])[0]
at_once = ising_path(X, alphas=[0.05])[0]
print(f"{in_parts.n_edges} edges in parts, {at_once.n_edges} at once, converged: {in_parts.converged}")
print(f"largest difference in a coupling: {abs(in_parts.couplings - at_once.couplings).max():.1e}")
folder.cleanup()

# %%
plot.network(in_parts, legend=False)
