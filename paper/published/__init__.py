"""The published algorithms this project started from: the stacked design, glmnet's descent, PLG and BMN."""

from paper.published.baselines import bmn, plg
from paper.published.glm import logistic_path
from paper.published.stacked import stacked_design

__all__ = ["bmn", "logistic_path", "plg", "stacked_design"]
