"""Size and power of the permutation tests of groups: p = 15, 400 rows in each group.

    python benchmarks/group_tests.py             # 1000 draws of each study, the table of docs/groups.md
    python benchmarks/group_tests.py --quick     # 60 draws

Under the null both groups come from one network. P-values are compared with the uniform distribution by Kolmogorov and
Smirnov, after ties and the lattice 1 / (B + 1) have been broken at random.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest, kstest

from isinglass import Network, Run, compare_groups, simulate
from isinglass.select.group_comparison_result import GroupComparison, least_equal

P, ROWS, ALPHA, PERMUTATIONS = 15, 400, 0.03, 99
REVERSED = 3
"""Number of the edge that has another sign in the second group of the study of power."""
UNCHANGED = 0.6
"""Share of the subjects who answer the same twice in the study of pairs."""

Draw = Callable[[int], tuple[NDArray[np.uint8], NDArray[np.uint8]]]


def make_network(reverse: bool = False) -> Network:
    """Return the network of the study: couplings of size 1 on a sparse random graph, balanced fields."""
    rng = np.random.default_rng(7)
    s, t = np.triu_indices(P, 1)
    chosen = np.sort(rng.choice(len(s), 22, replace=False))
    values = rng.choice([1.0, 1.0, -1.0], len(chosen))
    network = Network(np.zeros(P), np.column_stack([s, t])[chosen], values)
    balanced = Network(-network.expected_influence / 2, network.edge_index, values)
    if not reverse:
        return balanced
    values = values.copy()
    values[REVERSED] *= -1
    return Network(balanced.fields, network.edge_index, values)


def independent(reverse: bool) -> Draw:
    """Return a function that draws two independent groups."""
    networks = make_network(), make_network(reverse)

    def draw(seed: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        one, two = (simulate.exact_sample(net, ROWS, random_state=2 * seed + k) for k, net in enumerate(networks))
        return one, two

    return draw


def repeated() -> Draw:
    """Return a function that draws subjects twice: most answer the same again, the others are two Gibbs sweeps away.

    Both rows of a subject are one sweep away from a hidden row, so that they can change places.
    """
    network = make_network()

    def draw(seed: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
        kept, *seeds = np.random.SeedSequence([seed, 17]).spawn(4)
        start = simulate.exact_sample(network, ROWS, random_state=seeds[0])
        one, two = (
            simulate.gibbs_sample(
                network, ROWS, n_chains=ROWS, burn_in=0, start=start, random_state=source, n_threads=1
            )
            for source in seeds[1:]
        )
        same = np.random.default_rng(kept).random(ROWS) < UNCHANGED
        return one, np.where(same[:, None], one, two)

    return draw


def run(draw: Draw, n_draws: int, paired: bool) -> list[GroupComparison]:
    """Return one comparison per draw."""
    groups, subject = np.repeat([0, 1], ROWS), np.tile(np.arange(ROWS), 2)
    return [
        compare_groups(
            np.vstack(draw(seed)),
            groups,
            ALPHA,
            n_permutations=PERMUTATIONS,
            paired=subject if paired else None,
            random_state=seed,
            run=Run(n_jobs=1),
        )
        for seed in range(n_draws)
    ]


def broken_ties(null: NDArray[np.float64], observed: float, rng: np.random.Generator) -> float:
    """Return a p-value that is exactly uniform if the observed value is one of the same kind as the others."""
    reached = int((null >= least_equal(observed)).sum())
    above = int((null > observed + 1e-6 * max(observed, 1.0)).sum())
    return float((above + rng.random() * (reached - above + 1)) / (len(null) + 1))


def describe(name: str, found: list[GroupComparison]) -> None:
    """Print the uniformity and the size of both tests."""
    rng = np.random.default_rng(0)
    for test in ("structure", "strength"):
        values = [broken_ties(getattr(one, f"null_{test}"), getattr(one, test), rng) for one in found]
        rejected = sum(getattr(one, f"p_{test}") <= 0.05 for one in found)
        interval = binomtest(rejected, len(found)).proportion_ci()
        print(
            f"{name:34s} {test:10s} KS p = {kstest(values, 'uniform').pvalue:.3f}  rejected at 0.05: "
            f"{rejected / len(found):.4f} ({interval.low:.3f} to {interval.high:.3f})"
        )


def describe_edges(name: str, found: list[GroupComparison], reverse: int | None) -> None:
    """Print how often an edge that does not differ is reported, and the one that does."""
    wrong, right = [], []
    for one in found:
        is_reversed = (one.edge_index == make_network().edge_index[REVERSED]).all(axis=1) & (reverse is not None)
        wrong.append((one.edge_p_family[~is_reversed] <= 0.05).any())
        right.append((one.edge_p_family[is_reversed] <= 0.05).any())
    extra = f", the reversed one in {np.mean(right):.3f}" if reverse is not None else ""
    print(f"{name:34s} edges      any other edge reported (max-T 0.05) in {np.mean(wrong):.4f} of the draws{extra}")


def main() -> None:
    """Run the studies."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", choices=["null", "power", "paired", "unpaired"])
    parser.add_argument("--draws", type=int, default=1000)
    options = parser.parse_args()
    n_draws = 60 if options.quick else options.draws
    studies: dict[str, list[tuple[str, Draw, bool, Any]]] = {
        "null": [("null, independent groups", independent(False), False, None)],
        "power": [("one coupling reversed", independent(True), False, REVERSED)],
        "paired": [("null, subjects twice, paired", repeated(), True, None)],
        "unpaired": [("null, subjects twice, not paired", repeated(), False, None)],
    }
    for key, listed in studies.items():
        for name, draw, paired, reverse in listed if options.only in (None, key) else ():
            start = time.perf_counter()
            found = run(draw, n_draws, paired)
            describe(name, found)
            describe_edges(name, found, reverse)
            print(f"{name:34s} {n_draws} draws, {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
