"""The objective of a table at any network."""

from isinglass.penalties import penalty_matrix as penalty_matrix
from isinglass.penalties import refuse_vanishing as refuse_vanishing
from isinglass.penalties import smoothed_field as smoothed_field
from isinglass.solve.objective import Objective as Objective
from isinglass.solve.objective import of as of

__all__ = ["Objective", "of", "penalty_matrix", "refuse_vanishing", "smoothed_field"]
