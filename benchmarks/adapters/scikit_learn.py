"""scikit-learn, one L1 logistic regression per node."""

from __future__ import annotations

import sys

from adapters.process import WORKERS, ProcessRival

PROBE = (sys.executable, "-c", "import sklearn; print('scikit-learn', sklearn.__version__)")


def rivals() -> list[ProcessRival]:
    """Return saga (same objective, free intercept) and liblinear (penalizes the intercept, weakened by scaling)."""
    command = (sys.executable, str(WORKERS / "fit.py"))
    install = "pip install scikit-learn"

    def make(variant: str, label: str) -> ProcessRival:
        options = {"solver": "scikit-learn", "variant": variant}
        return ProcessRival(
            f"sklearn-{variant}", label, command, PROBE, nodewise=True, options=options, install=install
        )

    return [
        make("saga", "scikit-learn saga, node-wise"),
        make("liblinear", "scikit-learn liblinear, node-wise"),
    ]
