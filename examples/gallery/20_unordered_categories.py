"""
Categories without an order
===========================

Columns such as party, newspaper or region have no order. They can be used together with five-point scales and yes/no
answers.
"""

import numpy as np
import pandas as pd

from isinglass import export, ising_path, plot

rng = np.random.default_rng(0)
n = 900
party = rng.integers(0, 3, n)
paper = np.where(rng.random(n) < 0.5, party, rng.integers(0, 3, n))  # half of them read what their party reads
trust = np.digitize(rng.normal(size=n) + (party == 1), [-1, 0, 1])  # on a scale from 0 to 3
people = pd.DataFrame({"party": party, "paper": paper, "trust": trust, "owns a car": rng.integers(0, 2, n)})
kinds = ["nominal", "nominal", "ordinal", "binary"]
solution = ising_path(people, alphas=[0.05], kinds=kinds)[0]
print(f"{solution.n_edges} edges, converged: {solution.converged}")
plot.network(solution)

# %%
# An edge of such a column has a table of couplings instead of a sign: which categories occur together more often than
# the other columns explain (positive), and which less often. With an ordered column it has one number per category:
# trust is higher in the second party. The report shows each of them as a heat map.

export.write_network(solution, "-", "blocks")
