"""Choosing and trusting a network: each module takes a path function and knows no solver."""

from isinglass.selection.ebic import EbicSelection, ebic, select_ebic
from isinglass.selection.refit import Refit, refit

__all__ = ["EbicSelection", "Refit", "ebic", "refit", "select_ebic"]
