"""Choosing and trusting a network: each module takes a path function and knows no solver."""

from isinglass.select.bootstrap import Bootstrap, Differences, bootstrap
from isinglass.select.criteria import CriteriaComparison, compare_criteria
from isinglass.select.cv import CrossValidation, cross_validate
from isinglass.select.ebic import EbicSelection, ebic, select_ebic
from isinglass.select.impute import Imputation, complete, impute_first
from isinglass.select.pooling import Pooled, pool
from isinglass.select.refit import Refit, refit
from isinglass.select.stages import Stage
from isinglass.select.stars import stars
from isinglass.select.two_stage import TwoStage, two_stage

__all__ = [
    "Bootstrap",
    "CriteriaComparison",
    "CrossValidation",
    "Differences",
    "EbicSelection",
    "Imputation",
    "Pooled",
    "Refit",
    "Stage",
    "TwoStage",
    "bootstrap",
    "compare_criteria",
    "complete",
    "cross_validate",
    "ebic",
    "impute_first",
    "pool",
    "refit",
    "select_ebic",
    "stars",
    "two_stage",
]
