"""The numbers the paper prints, as it prints them: Geng, Kuang and Page (2017); and what its BMN took elsewhere."""

from __future__ import annotations

from paper.contract import Row

SIZES = (5, 10, 15, 20, 25)
PROBABILITIES = (0.2, 0.3, 0.4, 0.5)
TRIALS = 20
N_SAMPLES = 1000
BURN_IN = 1000

LAMBDA_JOINT = {
    5: (0.01566, 0.0117, 0.0189, 0.02016),
    10: (0.01971, 0.0144, 0.01863, 0.01728),
    15: (0.018, 0.01408, 0.0171, 0.012),
    20: (0.0135, 0.006975, 0.0135, 0.009),
    25: (0.0108, 0.00702, 0.0108, 0.0072),
}
"""Rows "BMN & PLG" of the table of λ: p -> one value for each of PROBABILITIES."""
LAMBDA_NODEWISE = {
    5: (0.00783, 0.00585, 0.00945, 0.01008),
    10: (0.009855, 0.0072, 0.009315, 0.00864),
    15: (0.009, 0.0054, 0.00855, 0.006),
    20: (0.00675, 0.003488, 0.00675, 0.0045),
    25: (0.0054, 0.00351, 0.0054, 0.0036),
}
"""Rows "NLR" of the same table."""
EPSILON = {
    5: (8.43e-4, 9.932e-4, 8.241e-4, 12.601e-4),
    10: (12.601e-4, 16.208e-4, 19.771e-4, 16.924e-4),
    15: (19.632e-4, 23.136e-4, 26.934e-4, 23.749e-4),
    20: (27.348e-4, 34.438e-4, 32.021e-4, 39.807e-4),
    25: (35.123e-4, 39.441e-4, 40.867e-4, 52.165e-4),
}
"""The table of relative differences between PLG and BMN."""
SENATE_LAMBDA = 0.06
MISPRINT = (15, 0.3)
"""The cell of the table of λ whose two entries are not twice and once the same number (0.01408 and 0.0054)."""

BMN_SECONDS = {5: (0.03, 0.03), 10: (0.05, 0.1), 15: (0.13, 0.25), 25: (0.7, 6.0)}
"""Not the paper's: what the R package BMN itself took on such tables, least and most, its debug printing removed.

Measured before this study, processor and λ not noted; the package can no longer be installed from a registry.
"""
SENATE_BMN_SECONDS = 3.7
"""The same on the Senate table at λ = 0.06."""


def value(table: dict[int, tuple[float, ...]], p: int, probability: float) -> float:
    """Return the entry of a table."""
    return table[p][PROBABILITIES.index(probability)]


def rows() -> list[Row]:
    """Return all of it, one row per cell of the grid."""
    names = {"lambda_joint": LAMBDA_JOINT, "lambda_nodewise": LAMBDA_NODEWISE, "epsilon": EPSILON}
    return [
        {"p": p, "P": probability, **{name: value(table, p, probability) for name, table in names.items()}}
        for p in SIZES
        for probability in PROBABILITIES
    ]


def reference_rows() -> list[Row]:
    """Return the times of the R package BMN, one row per size, in columns that the paper's numbers do not have."""
    times = {**BMN_SECONDS, 100: (SENATE_BMN_SECONDS, SENATE_BMN_SECONDS)}
    return [{"p": p, "bmn_seconds_least": least, "bmn_seconds_most": most} for p, (least, most) in times.items()]


def misprint_note(rows: list[Row]) -> str:
    """Say which λ was used in the misprinted cell; nothing for rows without it."""
    if not any((row["p"], row["P"]) == MISPRINT for row in rows):
        return ""
    joint, nodewise = value(LAMBDA_JOINT, *MISPRINT), value(LAMBDA_NODEWISE, *MISPRINT)
    return (
        f"In the misprinted cell p = {MISPRINT[0]}, P = {MISPRINT[1]} *the paper's λ* is the printed joint {joint}; "
        f"node-wise methods get its half, {joint / 2:g}, where the paper prints {nodewise}."
    )
