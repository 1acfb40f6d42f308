"""Learn who votes with whom in the U.S. Senate of 2006, and print the proof that the optimum was reached.

Usage: python examples/senate.py [directory for edges.csv]
"""

import csv
import sys
import time
from pathlib import Path

import numpy as np
from scipy.special import entr

from isinglass import Solution, ising_path
from isinglass.datasets import Senate109, load_senate109

ALPHA = 0.06


def main(directory: Path) -> None:
    """Fit, report, and write the edges."""
    senate = load_senate109()
    describe_table(senate)

    start = time.perf_counter()
    path = ising_path(senate.X, alphas=[ALPHA])
    seconds = time.perf_counter() - start

    network = path[0]
    describe_certificate(network, senate, path.tol, seconds)
    describe_edges(network, senate)
    print(f"\nedges written to {write_edges(network, senate.names, directory / 'edges.csv')}")


def describe_table(senate: Senate109) -> None:
    """Print the size of the table and who sits in it."""
    rows, columns = senate.X.shape
    missing = int(np.isnan(senate.votes).sum())
    print("U.S. Senate, 109th Congress, second session (2006)")
    print(f"  {rows} roll calls × {columns} senators")
    print(f"  {missing} votes missing ({missing / senate.votes.size:.1%}), counted as nay")
    print("  " + ", ".join(f"{senate.parties.count(party)} {party}" for party in "RDI"))


def describe_certificate(network: Solution, senate: Senate109, tol: float, seconds: float) -> None:
    """Print the network's size and how close to the optimum it is proved to be."""
    mean = senate.X.mean(axis=0)
    null_objective = float((entr(mean) + entr(1 - mean)).sum())
    pairs = network.n_features * (network.n_features - 1) // 2
    print(f"\nNetwork at alpha = {network.alpha:g}")
    print(f"  edges            {network.n_edges} of {pairs} pairs")
    print(f"  objective        {network.objective:.6f}  ({null_objective:.6f} without edges)")
    print(f"  KKT residual     {network.kkt_residual:.1e}")
    print(f"  relative gap     {network.duality_gap / null_objective:.1e}")
    print(f"  proved zeros     {network.certified_zeros} pairs have no edge in any optimum")
    print(f"  tolerance        {tol:.0e}: {'reached' if network.converged else 'NOT reached'}")
    print(f"  time             {1e3 * seconds:.1f} ms")


def describe_edges(network: Solution, senate: Senate109) -> None:
    """Print how the edges follow the parties, and the strongest of them."""
    party = np.array(senate.parties)
    s, t = network.edge_index[network.edge_values > 0].T
    within = int((party[s] == party[t]).sum())
    print(f"\n{within} of {len(s)} positive edges ({within / len(s):.0%}) join two senators of one party.")
    print("Strongest:")
    for k in np.argsort(-np.abs(network.edge_values))[:5]:
        s, t = network.edge_index[k]
        print(f"  {network.edge_values[k]:+.3f}  {senate.names[s]} -- {senate.names[t]}")


def write_edges(network: Solution, names: tuple[str, ...], target: Path) -> Path:
    """Write source, target and coupling of every edge; a reader never sees half a file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = target.with_suffix(".tmp")
    with unfinished.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["source", "target", "coupling"])
        for (s, t), coupling in zip(network.edge_index, network.edge_values, strict=True):
            writer.writerow([names[s], names[t], repr(float(coupling))])
    unfinished.replace(target)
    return target


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
