"""Networks with the interface of scikit-learn: validate, delegate to the functions, hold the `Fit`."""

from isinglass.estimators.networks import (
    ExactIsing,
    IsingLasso,
    IsingLassoCV,
    IsingLassoEBIC,
    IsingLassoStARS,
    IsingNetwork,
    NodewiseIsing,
    NodewiseIsingEBIC,
)

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
