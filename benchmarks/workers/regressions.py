"""One job of compares.py in the rival's Python: ``regressions.py {sklearn,skglm} TABLE.csv OUT.csv ALPHA``.

Regresses every column on all others with an L1 penalty and prints the processor seconds of that alone.
"""

import sys
import time
import warnings

import numpy as np

name, table, out, alpha = *sys.argv[1:4], float(sys.argv[4])
warnings.simplefilter("ignore")
X = np.loadtxt(table, delimiter=",", skiprows=1)
N, p = X.shape
if name == "sklearn":
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(l1_ratio=1.0, solver="saga", C=1.0 / (N * alpha), max_iter=1000)
else:
    from skglm import SparseLogisticRegression

    model = SparseLogisticRegression(alpha=alpha)
    model.fit(X[:, np.arange(p) > 0], X[:, 0])  # compiles, for this layout of arrays
couplings = np.zeros((p, p))
start = time.process_time()
for s in range(p):
    others = np.arange(p) != s
    couplings[s, others] = model.fit(X[:, others], X[:, s]).coef_.ravel()
print(time.process_time() - start)
np.savetxt(out, couplings, delimiter=",")
