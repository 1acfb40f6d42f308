"""Networks with the interface of scikit-learn: validate, delegate to the path functions, name the attributes."""

from isinglass.estimators.cv import IsingLassoCV
from isinglass.estimators.ebic import IsingLassoEBIC
from isinglass.estimators.exact import ExactIsing
from isinglass.estimators.joint import IsingLasso
from isinglass.estimators.network import IsingNetwork
from isinglass.estimators.nodewise import NodewiseIsing
from isinglass.estimators.stars import IsingLassoStARS

__all__ = [
    "ExactIsing",
    "IsingLasso",
    "IsingLassoCV",
    "IsingLassoEBIC",
    "IsingLassoStARS",
    "IsingNetwork",
    "NodewiseIsing",
]
