"""The objective of a table at any network."""

from isinglass.penalties import penalty_matrix, smoothed_field
from isinglass.solve.objective import Objective, of

__all__ = ["Objective", "of", "penalty_matrix", "smoothed_field"]
