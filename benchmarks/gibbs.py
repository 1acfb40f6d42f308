"""Speed of `gibbs_sample` on one thread against a pure-Python sampler that keeps lists of neighbors.

``python benchmarks/gibbs.py`` prints a table; `measure` returns its rows. Both sides do the same sweeps on the
same network; Python is given fewer of them and scaled by the number of node updates.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass

import networkx

from isinglass import Network
from isinglass.simulate import gibbs_sample, graph_network, grid_network, random_network

REPEATS = 7  # the fastest of them counts
UPDATES = 5_000_000  # node updates of our side per measurement
PYTHON_UPDATES = 200_000  # … of the pure-Python side


@dataclass(frozen=True)
class Row:
    """One network: nanoseconds per node update on each side, and their ratio."""

    name: str
    n_nodes: int
    n_edges: int
    ours_ns: float
    python_ns: float

    @property
    def ratio(self) -> float:
        """How many times faster than pure Python."""
        return self.python_ns / self.ours_ns


def python_sweeps(model: Network, n_sweeps: int) -> list[list[int]]:
    """Run Gibbs sweeps with lists and the random module, the way it is written when no compiler is at hand."""
    neighbors = [[(t, float(w)) for t, w in enumerate(row) if w] for row in model.couplings]
    fields, draw, exp = model.fields.tolist(), random.Random(0).random, math.exp
    x = [0] * len(fields)
    rows = []
    for _ in range(n_sweeps):
        for s, others in enumerate(neighbors):
            eta = fields[s]
            for t, w in others:
                if x[t]:
                    eta += w
            x[s] = 1 if draw() < 1.0 / (1.0 + exp(-eta)) else 0
        rows.append(x[:])
    return rows


def networks() -> dict[str, Network]:
    """Return the networks that are measured."""
    return {
        "paper, P = 0.5": random_network(25, 0.5, random_state=0),
        "paper, P = 0.2": random_network(100, 0.2, random_state=0),
        "grid 30 × 30": grid_network(30, 30, fields="balanced"),
        "3-regular": graph_network(
            networkx.random_regular_graph(3, 1000, seed=0), couplings="mixed", fields="balanced", random_state=0
        ),
        "random, degree 50": random_network(1000, 0.05, coupling_range=(-0.2, 0.2), random_state=0),
    }


def seconds(call: Callable[[], object]) -> float:
    """Return the shortest time of a few calls."""
    times = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times)


def measure() -> list[Row]:
    """Time both sides on every network."""
    rows = []
    for name, model in networks().items():
        p = model.n_features
        n, slow = max(1, UPDATES // p), max(1, PYTHON_UPDATES // p)
        ours = seconds(lambda m=model, n=n: gibbs_sample(m, n, burn_in=0, random_state=0, n_threads=1))
        python = seconds(lambda m=model, n=slow: python_sweeps(m, n))
        rows.append(Row(name, p, model.n_edges, 1e9 * ours / (n * p), 1e9 * python / (slow * p)))
    return rows


def main() -> None:
    """Print the table."""
    print("| network | nodes | edges | ours, ns per update | pure Python, ns | times faster |")
    print("|---|---:|---:|---:|---:|---:|")
    for row in measure():
        times = f"{row.ours_ns:.1f} | {row.python_ns:.0f} | {row.ratio:.0f}"
        print(f"| {row.name} | {row.n_nodes} | {row.n_edges} | {times} |")


if __name__ == "__main__":
    main()
