"""Choosing and trusting a network: methods, selectors, resampling, imputation."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from isinglass.select.bootstrap import bootstrap
from isinglass.select.bootstrap_result import Bootstrap, Differences
from isinglass.select.cross_validation import CrossValidation, CrossValidationChoice
from isinglass.select.ebic import EBIC, CriteriaComparison, compare_criteria, ebic
from isinglass.select.error_rates import EdgeTests, edge_tests
from isinglass.select.imputation import Imputation
from isinglass.select.method import SELECTORS as SELECTORS
from isinglass.select.method import ImputationSettings, Method, Wrapped, impute
from isinglass.select.pooling import Pooled, pool
from isinglass.select.refit import Refit, refit
from isinglass.select.sample_size import SampleSizeStudy, sample_size
from isinglass.select.selector import Choice, Fixed, PerNode, Selector
from isinglass.select.settings import Run
from isinglass.select.stages import Stage
from isinglass.select.stars import StARS
from isinglass.select.task import PathSettings
from isinglass.select.two_stage import TwoStage, TwoStageChoice

if TYPE_CHECKING:
    from isinglass.select.comparison import GroupComparison
    from isinglass.select.permutation import compare_groups

__all__ = [
    "EBIC",
    "Bootstrap",
    "Choice",
    "CriteriaComparison",
    "CrossValidation",
    "CrossValidationChoice",
    "Differences",
    "EdgeTests",
    "Fixed",
    "GroupComparison",
    "Imputation",
    "ImputationSettings",
    "Method",
    "PathSettings",
    "PerNode",
    "Pooled",
    "Refit",
    "Run",
    "SampleSizeStudy",
    "Selector",
    "StARS",
    "Stage",
    "TwoStage",
    "TwoStageChoice",
    "Wrapped",
    "bootstrap",
    "compare_criteria",
    "compare_groups",
    "ebic",
    "edge_tests",
    "impute",
    "pool",
    "refit",
    "sample_size",
]

_LATER = {"GroupComparison": "comparison", "compare_groups": "permutation"}
"""What a fit does not need, by module: a fit starts sooner without it."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'isinglass.select' has no attribute {name!r}")
    return getattr(import_module(f"isinglass.select.{_LATER[name]}"), name)
