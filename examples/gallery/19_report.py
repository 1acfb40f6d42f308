"""
A page to pass on
=================

A report lets coauthors explore the network themselves. It is one file that opens in a browser and needs neither Python
nor an internet connection.
"""

import tempfile
from pathlib import Path

import pandas as pd

from isinglass import IsingNetwork, plot, read_table, report

survey = read_table("../mood.csv", encode="auto", missing="drop", drop=["weight"])
net = IsingNetwork().fit(survey)
domains = pd.read_csv("../domains.csv", index_col="item")["domain"]
file = Path(tempfile.mkdtemp()) / "mood.html"
report.write_report(net, file, X=survey, groups=domains, title="Ten questions about mood")
print(f"{file.stat().st_size / 1e6:.1f} MB, nothing to install, nothing to fetch")

# %%
# The page has this drawing, which can be dragged and filtered, the tables, the certificate, and a paragraph for
# the methods section. See :doc:`a live one </report>`.

plot.network(net, groups=domains)
