"""The paper's tables and figures, measured again: one module per item, one command for all of them.

``python -m paper`` runs the study and writes docs/paper/*.csv, the figures and docs/paper.md;
``python -m paper --quick`` is a miniature of it. README.md says how an item is made.
"""

from __future__ import annotations

from importlib import import_module

from paper.contract import Item

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
    "senate_time",
    "scaling",
    "exact",
    "discrete",
)
"""Modules of this package that are items, in the order of the page."""


def load_items(names: tuple[str, ...] | list[str] = ITEMS) -> list[Item]:
    """Import the items called ``names``."""
    return [import_module(f"paper.{name}") for name in names]
