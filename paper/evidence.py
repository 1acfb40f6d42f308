"""What rows say: selections, means, ratios and verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    REMARK = "reproduced with a remark"
    NOT = "not reproduced"


def judge(reproduced: bool, remark: bool = False) -> Verdict:
    """Return the verdict of a rule: reproduced, else with a remark if that holds, else not."""
    return Verdict.REPRODUCED if reproduced else Verdict.REMARK if remark else Verdict.NOT


def pick(rows: pd.DataFrame, **wanted: Any) -> pd.DataFrame:
    """Return the rows that have these values."""
    keep = np.ones(len(rows), dtype=bool)
    for name, value in wanted.items():
        keep &= (rows[name] == value).to_numpy()
    return rows[keep]


def geometric_mean(values: Any) -> float:
    """Return the exponential of the mean logarithm; NaN for nothing."""
    return float(np.exp(np.log(pd.Series(values, dtype=float)).mean()))


def half_width(values: pd.Series) -> float:
    """Return half the width of the 95 % confidence interval of a mean (Student's t; NaN for one value)."""
    return float(stdtrit(len(values) - 1, 0.975) * values.sem())


def present(rows: pd.DataFrame, methods: Iterable[str]) -> list[str]:
    """Return those of the methods that were measured."""
    measured = set(rows.method)
    return [method for method in methods if method in measured]


def original(rows: pd.DataFrame, method: str) -> str:
    """Return the method as the paper ran it, with glmnet in R, where that was measured."""
    return next(iter(present(rows, [f"{method}-glmnet"])), method)


def within(value: float, factor: float) -> bool:
    """Tell whether a ratio is 1 up to a factor."""
    return 1 / factor <= value <= factor
