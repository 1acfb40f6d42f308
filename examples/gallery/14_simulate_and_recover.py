"""
Simulate and recover
====================

Does the method recover a known network? Compare the joint estimate with one regression per column.
"""

from isinglass import IsingNetwork, ising_path, metrics, nodewise_path, plot, simulate

truth = simulate.random_network(25, 0.1, coupling_range=(-2, 2), random_state=3)
X = simulate.gibbs_sample(truth, 800, random_state=3)
curves = {
    "joint": metrics.roc_curve(ising_path(X, alphas=40), truth),
    "one regression per column": metrics.roc_curve(nodewise_path(X, alphas=40), truth),
}
plot.roc(curves)

# %%
# The two methods rank pairs about equally well. A network is one point on such a curve; the default chooses one.

net = IsingNetwork().fit(X)
confusion = metrics.edge_confusion(net.network_, truth)
print(confusion)
print(f"precision {confusion.precision:.2f}, recall {confusion.recall:.2f}, F1 {confusion.f1:.2f}")
