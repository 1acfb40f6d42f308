"""Networks with the interface of scikit-learn: validate, delegate to the path functions, name the attributes."""

from isinglass.estimators.exact import ExactIsing
from isinglass.estimators.joint import IsingLasso, IsingLassoCV, IsingLassoEBIC, IsingLassoStARS
from isinglass.estimators.nodewise import NodewiseIsing

__all__ = ["ExactIsing", "IsingLasso", "IsingLassoCV", "IsingLassoEBIC", "IsingLassoStARS", "NodewiseIsing"]
