"""Networks with the interface of scikit-learn: validate, delegate to the functions, hold the `Fit`."""

from isinglass.estimators.networks import ExactIsing as ExactIsing
from isinglass.estimators.networks import IsingLasso as IsingLasso
from isinglass.estimators.networks import IsingLassoCV as IsingLassoCV
from isinglass.estimators.networks import IsingLassoEBIC as IsingLassoEBIC
from isinglass.estimators.networks import IsingLassoStARS as IsingLassoStARS
from isinglass.estimators.networks import IsingNetwork as IsingNetwork
from isinglass.estimators.networks import NodewiseIsing as NodewiseIsing
from isinglass.estimators.networks import NodewiseIsingEBIC as NodewiseIsingEBIC
