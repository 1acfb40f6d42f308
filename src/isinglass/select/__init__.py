"""Choosing a network, and how far it can be trusted.

To read it, begin with `settings` (records of settings, and `Run`), `task` (one table and how its pairs are estimated)
and `selector` (what chooses the penalty of a task, and returns a `Choice`). The selectors are those of
`path_selectors` and the default, `two_stage`; they share `scoring` and `folds`. The
`stages` of the default search paths of convex problems; their networks are judged by rows that were left out
(`prediction_check`).

`method` joins an estimator and a selector: the only way from a table to a `Fit`. It completes missing cells
(`imputation`, `pooling`) and adds standard errors (`refit`, on `sandwich`) and q-values (`error_rates`).

`bootstrap`, `group_comparison` and `sample_size` call a method many times, by `parallel` with
`checkpoint` and `progress`. `criteria` puts selectors side by side.
"""

from isinglass.select.bootstrap import bootstrap
from isinglass.select.bootstrap_result import Bootstrap
from isinglass.select.criteria import compare_criteria
from isinglass.select.error_rates import EdgeTests, edge_tests
from isinglass.select.group_comparison import compare_groups
from isinglass.select.group_comparison_result import GroupComparison
from isinglass.select.imputation import Imputation, ImputationSettings, impute
from isinglass.select.method import SELECTORS as SELECTORS
from isinglass.select.method import Method
from isinglass.select.path_selectors import EBIC, CrossValidation, CrossValidationChoice, StARS
from isinglass.select.pooling import Pooled, pool
from isinglass.select.refit import Refit, refit
from isinglass.select.run import Run
from isinglass.select.sample_size import SampleSizeStudy, sample_size
from isinglass.select.scoring import ebic
from isinglass.select.selector import Choice, Fixed, PerNode, Selector
from isinglass.select.stages import Stage
from isinglass.select.task import PathSettings
from isinglass.select.two_stage import TwoStage, TwoStageChoice

__all__ = [
    "EBIC",
    "Bootstrap",
    "Choice",
    "CrossValidation",
    "CrossValidationChoice",
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
