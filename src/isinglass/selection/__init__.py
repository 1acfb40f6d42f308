"""Choosing and trusting a network: each module takes a path function and knows no solver."""

from isinglass.selection.bootstrap import Bootstrap, bootstrap
from isinglass.selection.compare import Comparison, compare
from isinglass.selection.cv import CrossValidation, cross_validate
from isinglass.selection.ebic import EbicSelection, ebic, select_ebic
from isinglass.selection.refit import Refit, refit
from isinglass.selection.stars import stars

__all__ = [
    "Bootstrap",
    "Comparison",
    "CrossValidation",
    "EbicSelection",
    "Refit",
    "bootstrap",
    "compare",
    "cross_validate",
    "ebic",
    "refit",
    "select_ebic",
    "stars",
]
