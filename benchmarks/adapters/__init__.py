"""One module per rival; each returns its settings from ``rivals()``."""

from __future__ import annotations

from adapters import adelie, glmnet, ours, scikit_learn, skglm
from adapters.protocol import Measurement, Rival, SkippedError

__all__ = ["Measurement", "Rival", "SkippedError", "all_rivals"]


def all_rivals() -> dict[str, Rival]:
    """Return every rival by name, ours first."""
    modules = (ours, glmnet, adelie, skglm, scikit_learn)
    return {rival.name: rival for module in modules for rival in module.rivals()}
