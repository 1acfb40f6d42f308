"""Sparse networks from tables: which variables depend on each other directly, with a certificate for every solution."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from isinglass.version import __version__

if TYPE_CHECKING:  # the same names for type checkers and editors, which do not run `__getattr__`
    from isinglass import datasets as datasets
    from isinglass import errors as errors
    from isinglass import exact as exact
    from isinglass import export as export
    from isinglass import layout as layout
    from isinglass import metrics as metrics
    from isinglass import objective as objective
    from isinglass import plot as plot
    from isinglass import report as report
    from isinglass import select as select
    from isinglass import simulate as simulate
    from isinglass.data import Coding as Coding
    from isinglass.data import Table as Table
    from isinglass.data import as_table as as_table
    from isinglass.data import read_parts as read_parts
    from isinglass.data.files.read_table import read_table as read_table
    from isinglass.estimators import ExactIsing as ExactIsing
    from isinglass.estimators import IsingLasso as IsingLasso
    from isinglass.estimators import IsingLassoCV as IsingLassoCV
    from isinglass.estimators import IsingLassoEBIC as IsingLassoEBIC
    from isinglass.estimators import IsingLassoStARS as IsingLassoStARS
    from isinglass.estimators import IsingNetwork as IsingNetwork
    from isinglass.estimators import NodewiseIsing as NodewiseIsing
    from isinglass.estimators import NodewiseIsingEBIC as NodewiseIsingEBIC
    from isinglass.fit import Fit as Fit
    from isinglass.model_file import load as load
    from isinglass.model_file import save as save
    from isinglass.network import Network as Network
    from isinglass.records import Stability as Stability
    from isinglass.results import Path as Path
    from isinglass.results import Solution as Solution
    from isinglass.select.bootstrap import bootstrap as bootstrap
    from isinglass.select.error_rates import edge_tests as edge_tests
    from isinglass.select.group_comparison import compare_groups as compare_groups
    from isinglass.select.imputation import impute as impute
    from isinglass.select.method import Method as Method
    from isinglass.select.path_selectors import EBIC as EBIC
    from isinglass.select.path_selectors import CrossValidation as CrossValidation
    from isinglass.select.path_selectors import StARS as StARS
    from isinglass.select.refit import refit as refit
    from isinglass.select.selector import Fixed as Fixed
    from isinglass.select.selector import PerNode as PerNode
    from isinglass.select.settings import Run as Run
    from isinglass.select.two_stage import TwoStage as TwoStage
    from isinglass.solve.exact_likelihood import exact_path as exact_path
    from isinglass.solve.nodewise import NodewisePath as NodewisePath
    from isinglass.solve.nodewise import nodewise_path as nodewise_path
    from isinglass.solve.path import ising_path as ising_path
    from isinglass.variables import Variables as Variables

# Module -> the public names it defines; loaded on first use (PEP 562): `import isinglass` costs next to nothing.
_NAMES = {
    "data": "Coding Table as_table read_parts",
    "data.files.read_table": "read_table",
    "estimators": "ExactIsing IsingLasso IsingLassoCV IsingLassoEBIC IsingLassoStARS IsingNetwork NodewiseIsing "
    "NodewiseIsingEBIC",
    "fit": "Fit",
    "model_file": "load save",
    "network": "Network",
    "records": "Stability",
    "results": "Path Solution",
    "select": "CrossValidation EBIC Fixed Method PerNode Run StARS TwoStage "
    "bootstrap compare_groups edge_tests impute refit",
    "solve.exact_likelihood": "exact_path",
    "solve.nodewise": "NodewisePath nodewise_path",
    "solve.path": "ising_path",
    "variables": "Variables",
}
_HOME = {name: module for module, names in _NAMES.items() for name in names.split()}
# Public modules.
_SUBMODULES = (
    *("datasets", "errors", "exact", "export", "layout", "metrics"),
    *("objective", "plot", "report", "select", "simulate"),
)

# What `from isinglass import *` gives: everything that needs no optional package.
__all__ = ["__version__", *_HOME, *(name for name in _SUBMODULES if name != "plot")]


def __getattr__(name: str) -> Any:  # Any: of any type
    """Load a public name or submodule on first use."""
    if name in _HOME:
        value = getattr(import_module(f"isinglass.{_HOME[name]}"), name)
    elif name in _SUBMODULES:
        value = import_module(f"isinglass.{name}")
    else:
        raise AttributeError(f"module 'isinglass' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted([*__all__, "plot"])
