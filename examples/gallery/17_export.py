"""
To Gephi, networkx and spreadsheets
===================================

How do I export the network with names, groups and colors?
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import networkx

from isinglass import IsingLasso, as_table, export
from isinglass.datasets import load_senate109

senate = load_senate109()
net = IsingLasso(alpha=0.1).fit(as_table(senate.X, names=senate.names))
looks = {"node_attributes": {"party": senate.parties, "state": senate.states}}
folder = Path(tempfile.mkdtemp())
export.write_network(net, folder / "senate.gexf", color_by="party", **looks)  # Gephi
export.write_network(net, folder / "senate.json", **looks)  # the web
export.write_network(net, folder / "edges.csv", "edges")  # a spreadsheet
print(*(folder / "edges.csv").read_text().splitlines()[:4], sep="\n")

# %%
# With networkx you can apply all its algorithms to the graph.

graph = export.to_networkx(net)
between = networkx.betweenness_centrality(graph)
print("between the others:", max(between, key=between.get))
colors = [{"R": "tab:red", "D": "tab:blue", "I": "tab:green"}[party] for party in senate.parties]
ax = plt.figure(figsize=(7, 5)).add_subplot()
networkx.draw_networkx(
    graph,
    networkx.spring_layout(graph, seed=0),
    ax=ax,
    node_color=colors,
    with_labels=False,
    node_size=60,
    edge_color="0.8",
)
ax.set_axis_off()
