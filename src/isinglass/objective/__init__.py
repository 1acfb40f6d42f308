"""The objective of docs/math.md in plain NumPy: value, gradient, KKT residual, duality gap and proofs."""

from isinglass.objective.category_certificate import CategoryCertificate, category_certificate
from isinglass.objective.functions import (
    alpha_max,
    certified_zeros,
    duality_gap,
    gradient,
    kkt_residual,
    null_model,
    profile,
    relative_gap,
    value,
)
from isinglass.objective.reduced import penalty_matrix, refuse_vanishing, smoothed_field
from isinglass.separation import find_separation

__all__ = [
    "CategoryCertificate",
    "alpha_max",
    "category_certificate",
    "certified_zeros",
    "duality_gap",
    "find_separation",
    "gradient",
    "kkt_residual",
    "null_model",
    "penalty_matrix",
    "profile",
    "refuse_vanishing",
    "relative_gap",
    "smoothed_field",
    "value",
]
