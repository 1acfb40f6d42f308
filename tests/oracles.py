"""Loader of the stored solutions in ``tests/oracle_data``; tables are read only when asked for."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent / "oracle_data"


def read(case, name):
    """Return ``<case>/<name>.csv`` as a float matrix."""
    return np.loadtxt(FOLDER / case / f"{name}.csv", delimiter=",", ndmin=2)


@dataclass(frozen=True)
class Oracle:
    """One table at one alpha: the optimum ``theta`` (fields on the diagonal) and its value."""

    name: str
    alpha: float
    objective: float
    n_edges: int

    @cached_property
    def X(self):
        if self.name == "senate":
            from isinglass.datasets import load_senate109

            return load_senate109().X
        return read(self.name, "X").astype(np.uint8)

    @cached_property
    def theta(self):
        return read(self.name, f"joint_alpha_{self.alpha:g}")

    @property
    def fields(self):
        return self.theta.diagonal().copy()

    @property
    def couplings(self):
        return self.theta - np.diag(self.fields)

    def __str__(self):
        return f"{self.name}-{self.alpha:g}"


def cases():
    """Return every stored case, in the order of ``index.json``; use ``ids=str`` with pytest."""
    entries = json.loads((FOLDER / "index.json").read_text(encoding="utf-8"))
    return [Oracle(e["case"], e["alpha"], e["objective"], e["edges"]) for e in entries]


@dataclass(frozen=True)
class DiscreteOracle:
    """One table with columns of several kinds at one alpha."""

    name: str
    kinds: tuple[str, ...]
    levels: tuple[int, ...]
    alpha_max: float
    alpha: float
    objective: float
    fields: list
    pairs: list

    @cached_property
    def X(self):
        return read(f"discrete/{self.name}", "X").astype(np.uint8)

    @property
    def norms(self):
        return {(pair["s"], pair["t"]): pair["norm"] for pair in self.pairs}

    @property
    def blocks(self):
        return {(pair["s"], pair["t"]): np.array(pair["block"]) for pair in self.pairs}

    def __str__(self):
        return f"{self.name}-{self.alpha:g}"


def discrete_cases():
    """Return every stored case with more than two values; use ``ids=str`` with pytest."""
    cases = []
    for path in sorted((FOLDER / "discrete").glob("*/solutions.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        head = (case["case"], tuple(case["kinds"]), tuple(case["levels"]), case["alpha_max"])
        cases += [
            DiscreteOracle(*head, one["alpha"], one["objective"], one["fields"], one["pairs"])
            for one in case["solutions"]
        ]
    return cases
