"""The objective of a table at any network."""

from isinglass.penalties import penalty_matrix, smoothed_field
from isinglass.solve.objective import Objective

__all__ = ["Objective", "penalty_matrix", "smoothed_field"]
