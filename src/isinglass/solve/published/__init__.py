"""The published algorithms this project started from: the stacked design, glmnet's descent, PLG and BMN."""

from isinglass.solve.published.baselines import bmn, plg
from isinglass.solve.published.glm import logistic_path
from isinglass.solve.published.stacked import stacked_design

__all__ = ["bmn", "logistic_path", "plg", "stacked_design"]
