"""Networks with the interface of scikit-learn: validate, delegate to the functions, hold the `Fit`."""

from isinglass.estimators.alternatives import ExactIsing, NodewiseIsing, NodewiseIsingEBIC
from isinglass.estimators.lasso import IsingLasso, IsingLassoCV, IsingLassoEBIC, IsingLassoStARS, IsingNetwork

__all__ = [
    "ExactIsing",
    "IsingLasso",
    "IsingLassoCV",
    "IsingLassoEBIC",
    "IsingLassoStARS",
    "IsingNetwork",
    "NodewiseIsing",
    "NodewiseIsingEBIC",
]
