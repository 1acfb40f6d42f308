"""The paper's tables and figures, measured again: one module and one text per item, one command for all of them.

``python -m paper`` runs the study and writes docs/paper/*.csv, the figures and docs/paper.md;
``python -m paper --quick`` is a small version of it. README.md says how an item is made.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

ITEMS = (
    "lambdas",
    "timing",
    "epsilon",
    "roc",
    "unbalanced",
    "imbalance",
    "senate_lambda",
    "senate_network",
    "senate_findings",
    "senate_missing",
    "senate_time",
    "scaling",
    "exact",
    "discrete",
)
"""Modules of this package that are items, in the order of the page."""


def load_items(names: Iterable[str] = ITEMS) -> list[ModuleType]:
    """Import the items called ``names``."""
    return [import_module(f"paper.{name}") for name in names]
