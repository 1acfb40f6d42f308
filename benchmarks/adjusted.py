"""Networks of the discrete columns of real tables, alone and adjusted for age, scores and measurements.

    python benchmarks/adjusted.py [--only bfi rotterdam]

The tables come with R packages that Debian has (r-cran-psych, r-cran-survival, r-cran-mass), so R is needed. Rows with
missing cells are left out. Prints a table in Markdown, and the edges that adjusting removes.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from isinglass import IsingNetwork
from isinglass.errors import IsinglassWarning, suppress_warnings
from isinglass.fit import Fit

Pair = frozenset[Hashable]


@dataclass(frozen=True)
class Source:
    """A table of an R package: R code that gives a frame, and what its columns are."""

    code: str
    covariates: tuple[str, ...]
    ordinal: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()


ITEMS = tuple(f"{trait}{k}" for trait in "ACENO" for k in range(1, 6))
SOURCES = {
    "bfi": Source("psych::bfi", ("age", "gender", "education"), ordinal=ITEMS),
    "rotterdam": Source(
        "transform(survival::rotterdam, size = as.integer(size))"
        "[c('meno', 'size', 'grade', 'hormon', 'chemo', 'recur', 'death', 'age', 'nodes', 'pgr', 'er')]",
        ("age", "nodes", "pgr", "er"),
        ordinal=("size",),
    ),
    "pbc": Source(
        "transform(survival::pbc, died = as.integer(status == 2))"
        "[c('sex', 'ascites', 'hepato', 'spiders', 'edema', 'stage', 'died', 'age', 'bili', 'albumin', 'protime')]",
        ("age", "bili", "albumin", "protime"),
        ordinal=("edema", "stage"),
    ),
    "colon": Source(
        "subset(survival::colon, etype == 2, "
        "c(sex, obstruct, perfor, adhere, differ, extent, surg, status, age, nodes))",
        ("age", "nodes"),
        ordinal=("differ", "extent"),
    ),
    "birthwt": Source(
        "MASS::birthwt[c('low', 'race', 'smoke', 'ptl', 'ht', 'ui', 'age', 'lwt')]",
        ("age", "lwt"),
        ordinal=("ptl",),
        nominal=("race",),
    ),
}


def load(source: Source) -> pd.DataFrame:
    """Return the table of a package, without rows that lack a cell."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        code = f"write.csv({source.code}, '{file}', row.names = FALSE)"
        subprocess.run(["Rscript", "-e", code], check=True, capture_output=True)
        found = pd.read_csv(file)
    wanted = [*source.covariates, *source.ordinal, *source.nominal]
    return found[[name for name in found if name in wanted or found[name].nunique() == 2]].dropna()


def fit(frame: pd.DataFrame, source: Source, *, adjusted: bool) -> Fit:
    """Return the default network of the discrete columns, adjusted for the covariates or without them."""
    kinds = dict.fromkeys(source.ordinal, "ordinal") | dict.fromkeys(source.nominal, "nominal")
    estimator = IsingNetwork(
        kinds=kinds, encode="auto", covariates=source.covariates if adjusted else None, n_threads=1
    )
    with suppress_warnings(IsinglassWarning):
        return estimator.fit(frame if adjusted else frame.drop(columns=list(source.covariates))).fit_


def edges_of(found: Fit) -> dict[Pair, float]:
    """Return the couplings of a network by pair, the largest first."""
    edges = found.edges()
    pairs = map(frozenset, zip(edges["source"], edges["target"], strict=True))
    return dict(zip(pairs, edges["coupling"].tolist(), strict=True))


def show(pairs: Iterable[Pair], *networks: dict[Pair, float]) -> str:
    """Return the names of pairs with their couplings in each network."""
    words = []
    for pair in pairs:
        values = " → ".join(f"{network[pair]:.2f}" for network in networks)
        words.append(f"{'–'.join(sorted(map(str, pair)))} {values}")
    return ", ".join(words)


def main() -> None:
    """Fit both networks of every table, and print how they differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(SOURCES), choices=list(SOURCES))
    details = []
    print("| table | rows × columns | adjusted for | edges, unadjusted | adjusted | gone | new |")
    print("|---|---|---|---:|---:|---:|---:|")
    for name in parser.parse_args().only:
        source = SOURCES[name]
        frame = load(source)
        alone, given = (edges_of(fit(frame, source, adjusted=adjusted)) for adjusted in (False, True))
        gone, new = ([pair for pair in one if pair not in other] for one, other in ((alone, given), (given, alone)))
        size = f"{len(frame)} × {frame.shape[1] - len(source.covariates)}"
        cells = [name, size, ", ".join(source.covariates), *map(str, map(len, (alone, given, gone, new)))]
        print("| " + " | ".join(cells) + " |", flush=True)
        kept = sorted(alone.keys() & given.keys(), key=lambda pair: abs(given[pair]) - abs(alone[pair]))
        details.append(f"{name}, gone: {show(gone[:6], alone)}")
        details.append(f"{name}, new: {show(new[:6], given)}")
        details.append(f"{name}, smaller: {show(kept[:4], alone, given)}")
    print("\n" + "\n".join(details))


if __name__ == "__main__":
    main()
