"""The numbers that the paper prints (Geng, Kuang and Page, 2017), and what its BMN took elsewhere: published.csv.

The seconds in that file are not the paper's. They are what the R package BMN itself took on such tables, least and
most, with its debug printing removed, and at p = 100 on the Senate table. They were measured before this study, and
processor and λ were not noted; the package can no longer be installed from a registry.
"""

from __future__ import annotations

import pandas as pd

from paper.files import ROOT

FILE = ROOT / "docs" / "paper" / "published.csv"
_ALL = pd.read_csv(FILE)
GRID = _ALL.dropna(subset="P").set_index(["p", "P"])[["lambda_joint", "lambda_nodewise", "epsilon"]]
"""λ and ε for every size and probability; λ for BMN and PLG (joint) and for NLR (node-wise)."""
BMN_SECONDS = _ALL[_ALL["P"].isna()].set_index("p")[["bmn_seconds_least", "bmn_seconds_most"]]

SIZES = tuple(GRID.index.unique("p").tolist())
PROBABILITIES = tuple(GRID.index.unique("P").tolist())
TRIALS = 20
SENATE_LAMBDA = 0.06
MISPRINT = (15, 0.3)
"""The cell of the table of λ whose two entries are not twice and once the same number (0.01408 and 0.0054)."""
