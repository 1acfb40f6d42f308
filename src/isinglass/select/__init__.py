"""Choosing and trusting a network: each module takes a path function and knows no solver."""

from importlib import import_module
from typing import Any

from isinglass.select.bootstrap import bootstrap
from isinglass.select.criteria import CriteriaComparison, EbicSelection, compare_criteria, ebic, select_ebic
from isinglass.select.cv import CrossValidation, cross_validate
from isinglass.select.impute import Imputation, complete, impute_first
from isinglass.select.refit import Refit, refit
from isinglass.select.sample_size import SampleSizeStudy, sample_size
from isinglass.select.spread import Bootstrap, Differences
from isinglass.select.stages import Stage
from isinglass.select.stars import stars
from isinglass.select.two_stage import TwoStage, two_stage

__all__ = [
    "Bootstrap",
    "CriteriaComparison",
    "CrossValidation",
    "Differences",
    "EbicSelection",
    "GroupComparison",
    "Imputation",
    "Pooled",
    "Refit",
    "SampleSizeStudy",
    "Stage",
    "TwoStage",
    "bootstrap",
    "compare_criteria",
    "compare_groups",
    "complete",
    "cross_validate",
    "ebic",
    "impute_first",
    "pool",
    "refit",
    "sample_size",
    "select_ebic",
    "stars",
    "two_stage",
]


_LATER = {"GroupComparison": "comparison", "compare_groups": "permutation", "Pooled": "pooling", "pool": "pooling"}
"""What a fit does not need, by module: a fit starts sooner without it."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'isinglass.select' has no attribute {name!r}")
    return getattr(import_module(f"isinglass.select.{_LATER[name]}"), name)
