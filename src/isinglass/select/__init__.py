"""Choosing a network, and how far it can be trusted.

To read it, begin with `task` (one table, and how its pairs are estimated) and `selector` (what chooses the penalty of a
task, and returns a `Choice`). The selectors are in `path_selectors` and `two_stage`, the default, whose `stages` search
paths of convex problems; their networks are judged by rows that were left out (`prediction_check`).

`method` joins an estimator and a selector: the only way from a table to a `Fit`. It completes missing cells
(`imputation`, `pooling`) and adds standard errors (`refit`, on `sandwich`) and q-values (`error_rates`).

`bootstrap`, `group_comparison` and `sample_size` call a method many times, by `parallel` with
`checkpoint` and `progress`. `criteria` puts selectors side by side.
"""

from isinglass.select.bootstrap import bootstrap as bootstrap
from isinglass.select.bootstrap_result import Bootstrap as Bootstrap
from isinglass.select.criteria import compare_criteria as compare_criteria
from isinglass.select.error_rates import edge_tests as edge_tests
from isinglass.select.group_comparison import compare_groups as compare_groups
from isinglass.select.group_comparison_result import GroupComparison as GroupComparison
from isinglass.select.imputation import Imputation as Imputation
from isinglass.select.imputation import ImputationSettings as ImputationSettings
from isinglass.select.imputation import impute as impute
from isinglass.select.method import SELECTORS as SELECTORS
from isinglass.select.method import Method as Method
from isinglass.select.path_selectors import EBIC as EBIC
from isinglass.select.path_selectors import CrossValidation as CrossValidation
from isinglass.select.path_selectors import CrossValidationChoice as CrossValidationChoice
from isinglass.select.path_selectors import StARS as StARS
from isinglass.select.pooling import Pooled as Pooled
from isinglass.select.pooling import pool as pool
from isinglass.select.refit import Refit as Refit
from isinglass.select.refit import refit as refit
from isinglass.select.sample_size import SampleSizeStudy as SampleSizeStudy
from isinglass.select.sample_size import sample_size as sample_size
from isinglass.select.scoring import ebic as ebic
from isinglass.select.selector import Choice as Choice
from isinglass.select.selector import Fixed as Fixed
from isinglass.select.selector import PerNode as PerNode
from isinglass.select.selector import Selector as Selector
from isinglass.select.settings import Run as Run
from isinglass.select.stages import Stage as Stage
from isinglass.select.task import PathSettings as PathSettings
from isinglass.select.two_stage import TwoStage as TwoStage
from isinglass.select.two_stage import TwoStageChoice as TwoStageChoice

__all__ = [name for name, value in globals().items() if callable(value)]
