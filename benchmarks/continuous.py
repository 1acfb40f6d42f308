"""How well networks of continuous and mixed columns are recovered, beside EBICglasso and the graphical lasso.

    python benchmarks/continuous.py [--quick] [--draws 10] [--folder build/continuous]
        [--page docs/benchmarks/continuous.md]

Tables are drawn from random networks with partial correlations from .2 to .35 and 1.15 edges per column. One line per
table and method goes to results.csv in the folder, and a run that was stopped goes on where it was. Draws come
one after the other over all settings, so that a run that ends early has some of each. R with qgraph is needed
for EBICglasso, which is left out where it is missing.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from isinglass import Method, Run, as_table
from isinglass.errors import IsinglassWarning, suppress_warnings

WORKER = Path(__file__).parent / "workers" / "ebicglasso.R"
SIZES, ROWS = (20, 50), (200, 500, 2000)
EDGES_PER_COLUMN = 1.15
WEAKEST, STRONGEST = 0.2, 0.35
SWEEPS = 300  # of the sampler of the mixed model, for every row
FIELDS = ("setting", "p", "rows", "draw", "method", "f1", "error", "n_edges", "seconds")
METHODS = OURS, RIVAL, LASSO = "isinglass", "EBICglasso", "GraphicalLassoCV"
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """One table, and the network that it was drawn from."""

    X: Floats
    kinds: tuple[str, ...]
    truth: Floats  # partial correlations of continuous pairs; of other pairs any number that is not 0 for an edge

    @property
    def continuous(self) -> NDArray[np.bool_]:
        """Which pairs are continuous, as a mask of the upper triangle."""
        is_number = np.array([kind == "continuous" for kind in self.kinds])
        return np.triu(np.outer(is_number, is_number), 1)


def draw_precision(p: int, rng: np.random.Generator) -> Floats:
    """Return a precision matrix with ones on its diagonal; its other entries are minus the partial correlations."""
    pairs = np.column_stack(np.triu_indices(p, 1))
    while True:
        chosen = pairs[rng.choice(len(pairs), round(EDGES_PER_COLUMN * p), replace=False)]
        values = rng.uniform(WEAKEST, STRONGEST, len(chosen)) * rng.choice([-1.0, 1.0], len(chosen))
        precision = np.eye(p)
        precision[chosen[:, 0], chosen[:, 1]] = precision[chosen[:, 1], chosen[:, 0]] = -values
        if np.linalg.eigvalsh(precision)[0] > 0.1:
            return precision


def _normal(p: int, n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return rows with standard normal columns, and their partial correlations."""
    precision = draw_precision(p, rng)
    covariance = np.linalg.inv(precision)
    X = rng.multivariate_normal(np.zeros(p), covariance, n) / np.sqrt(np.diag(covariance))
    return X, np.eye(p) - precision


def gaussian(p: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw jointly normal columns."""
    X, truth = _normal(p, n, rng)
    return Sample(X, ("continuous",) * p, truth)


def log_normal(p: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw the exponentials of jointly normal columns; the truth is the network of the logarithms."""
    X, truth = _normal(p, n, rng)
    return Sample(np.exp(X), ("continuous",) * p, truth)


def heavy(p: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw from the multivariate t distribution with 3 degrees of freedom; the truth is the network of its scatter."""
    X, truth = _normal(p, n, rng)
    return Sample(X / np.sqrt(rng.chisquare(3.0, n) / 3.0)[:, None], ("continuous",) * p, truth)


def cut(p: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw normal columns, of which every fourth is cut at its median and every fourth into five ordered classes.

    The truth is the network of the normal columns: that of the cut ones has further, weak edges.
    """
    X, truth = _normal(p, n, rng)
    kinds = np.array(["continuous", "binary", "continuous", "ordinal"])[np.arange(p) % 4]
    for s in range(p):
        if kinds[s] == "binary":
            X[:, s] = X[:, s] > 0.0
        elif kinds[s] == "ordinal":
            X[:, s] = np.digitize(X[:, s], [-1.2, -0.4, 0.4, 1.2])
    return Sample(X, tuple(kinds.tolist()), truth)


def counts(p: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw counts with surplus zeros: quantiles of 30 % zeros and 70 % Poisson (3) at the ranks of normal columns.

    The truth is the network of the normal columns.
    """
    from scipy.stats import norm, poisson

    X, truth = _normal(p, n, rng)
    rank = norm.cdf(X)
    return Sample(poisson.ppf(np.clip((rank - 0.3) / 0.7, 0.0, 1.0), 3.0).clip(0.0), ("continuous",) * p, truth)


def mixed(p: int, n: int, rng: np.random.Generator) -> Sample:
    """Draw from the mixed model of Lee and Hastie: half of the columns normal given the others, half of two values.

    log P(x, y) = −xᵀBx/2 + Σ ρ_sj x_s y_j + Σ φ_jk y_j y_k for y of −½ and ½. Every row is a chain of its own. Edges
    between two values have φ of 1 to 1.75, those between kinds ρ of .45 to .8.
    """
    B = draw_precision(p, rng)
    numbers = np.arange(p) % 2 == 0
    coupling = -B
    np.fill_diagonal(coupling, 0.0)
    coupling *= np.where(np.outer(~numbers, ~numbers), 5.0, np.where(np.outer(numbers, numbers), 1.0, 2.25))
    state = np.where(numbers, rng.normal(size=(n, p)), rng.integers(0, 2, (n, p)) - 0.5)
    for _ in range(SWEEPS):
        for s in range(p):
            eta = state @ coupling[:, s]
            if numbers[s]:
                state[:, s] = eta + rng.normal(size=n)
            else:
                state[:, s] = (rng.random(n) < 1.0 / (1.0 + np.exp(-eta))) - 0.5
    kinds = tuple("continuous" if number else "binary" for number in numbers)
    return Sample(np.where(numbers, state, state + 0.5), kinds, coupling)


@dataclass(frozen=True)
class Setting:
    """A way to draw tables, and how methods are used on them."""

    words: str
    draw: Callable[[int, int, np.random.Generator], Sample]
    normal_scores: bool = False
    correlations: str = "pearson"  # what EBICglasso is given: "auto" is cor_auto of qgraph


SETTINGS = {
    "gaussian": Setting("jointly normal", gaussian),
    "mixed": Setting("mixed model, half of two values", mixed, correlations="auto"),
    "cut": Setting("normal, half of it cut", cut, correlations="auto"),
    "log-normal": Setting("log-normal", log_normal),
    "log-normal, normal scores": Setting("log-normal, normal scores", log_normal, normal_scores=True),
    "counts": Setting("counts with surplus zeros", counts, correlations="auto"),
    "heavy": Setting("t with 3 degrees of freedom", heavy),
}


def family(setting: str) -> str:
    """Return the setting with the same tables, for which the rivals are run: they know no normal scores."""
    return setting.partition(",")[0]


def draw_sample(setting: str, p: int, n: int, draw: int) -> Sample:
    """Return one table; both settings of log-normal columns have the same."""
    number = list(SETTINGS).index(family(setting))
    return SETTINGS[setting].draw(p, n, np.random.default_rng([draw, number, p, n]))


def score(sample: Sample, found: Floats) -> dict[str, float]:
    """Return F1 over all pairs, and the relative error of partial correlations over continuous pairs."""
    upper = np.triu_indices(len(found), 1)
    there, truth = found[upper] != 0.0, sample.truth[upper] != 0.0
    hits = int((there & truth).sum())
    mask = sample.continuous
    error = np.linalg.norm((found - sample.truth)[mask]) / np.linalg.norm(sample.truth[mask])
    return {"f1": 2 * hits / max(there.sum() + truth.sum(), 1), "error": float(error), "n_edges": int(there.sum())}


def fit_ours(sample: Sample, normal_scores: bool) -> Floats:
    """Return the default network: partial correlations, and couplings where there are none."""
    p = sample.X.shape[1]
    kinds = {s: kind for s, kind in enumerate(sample.kinds) if kind != "binary"}
    scores = dict.fromkeys(kinds, "normal") if normal_scores else None
    with suppress_warnings(IsinglassWarning):
        table = as_table(sample.X, kinds=kinds, scores=scores)
        fit = Method(standard_errors=False).fit(table, run=Run(n_threads=1))
    found = np.zeros((p, p))
    s, t = fit.network.edge_index.T
    r = fit.edge_attributes["partial_correlation"]
    found[s, t] = found[t, s] = np.where(np.isnan(r), fit.network.edge_values, r)
    return found


def fit_lasso(sample: Sample) -> Floats:
    """Return the partial correlations of scikit-learn's graphical lasso with cross-validation."""
    from sklearn.covariance import GraphicalLassoCV

    X = (sample.X - sample.X.mean(0)) / sample.X.std(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        K = GraphicalLassoCV().fit(X).precision_
    return np.asarray(-K / np.sqrt(np.outer(np.diag(K), np.diag(K))))


def has_qgraph() -> bool:
    """Tell whether there is an R with qgraph, whose EBICglasso is the rival."""
    command = ["Rscript", "-e", 'quit(status = !requireNamespace("qgraph", quietly = TRUE))']
    return (
        shutil.which("Rscript") is not None
        and subprocess.run(command, check=False, capture_output=True).returncode == 0
    )


def fit_rivals(jobs: list[tuple[Sample, str]]) -> Iterator[tuple[Floats, float]]:
    """Yield the partial correlations of EBICglasso for some tables, all from one process of R, and seconds of each."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        lines = []
        for k, (sample, correlations) in enumerate(jobs):
            names = ",".join(f"V{j}" for j in range(sample.X.shape[1]))
            np.savetxt(here / f"{k}.csv", sample.X, delimiter=",", header=names, comments="", fmt="%.10g")
            lines.append(f"{here}/{k}.csv,{here}/{k}.out,{correlations}")
        (here / "jobs").write_text("\n".join(lines) + "\n", encoding="utf-8")
        command = ["Rscript", str(WORKER), str(here / "jobs")]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        seconds = [float(line.removeprefix("seconds ")) for line in said.splitlines() if line.startswith("seconds ")]
        for k, spent in enumerate(seconds):
            yield np.loadtxt(here / f"{k}.out", delimiter=","), spent


def run(
    folder: Path,
    settings: list[str],
    sizes: list[int],
    rows: list[int],
    draws: int,
    methods: Sequence[str] = METHODS,
) -> list[dict[str, str]]:
    """Measure what is missing, and return all lines; without R and qgraph, EBICglasso is left out."""
    if not has_qgraph():
        methods = [method for method in methods if method != RIVAL]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "results.csv"
    if not file.exists():
        file.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    for draw in range(draws):
        for p in sizes:
            known = {tuple(line[name] for name in FIELDS[:5]) for line in read_lines(file)}
            cells = [(setting, str(p), str(n), str(draw)) for n in rows for setting in settings]
            missing = {
                method: [
                    cell
                    for cell in cells
                    if (*cell, method) not in known and (method == OURS or family(cell[0]) == cell[0])
                ]
                for method in methods
            }
            samples = {cell: draw_sample(cell[0], p, int(cell[2]), draw) for cell in set().union(*missing.values())}
            if waiting := missing.pop(RIVAL, []):
                found = fit_rivals([(samples[cell], SETTINGS[cell[0]].correlations) for cell in waiting])
                for cell, (network, seconds) in zip(waiting, found, strict=True):
                    _write(file, cell, RIVAL, score(samples[cell], network), seconds)
            for method, waiting in missing.items():
                for cell in waiting:
                    start = time.process_time()
                    sample = samples[cell]
                    network = fit_ours(sample, SETTINGS[cell[0]].normal_scores) if method == OURS else fit_lasso(sample)
                    _write(file, cell, method, score(sample, network), time.process_time() - start)
    return read_lines(file)


def read_lines(file: Path) -> list[dict[str, str]]:
    """Return the lines of a file of results."""
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def _write(file: Path, cell: tuple[str, ...], method: str, scores: dict[str, float], seconds: float) -> None:
    numbers = [f"{scores[name]:.4f}" for name in ("f1", "error")]
    with file.open("a", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerow([*cell, method, *numbers, scores["n_edges"], f"{seconds:.2f}"])


def table(lines: list[dict[str, str]]) -> str:
    """Return means over draws as a table: F1 and error of each method, and how far we are ahead.

    A draw counts if both of the first two methods have it. Means of GraphicalLassoCV are over those that it has.
    """
    text = [
        f"| table | columns | rows | draws | F1: {OURS} | {RIVAL} | {LASSO} | ahead of {RIVAL} | error: {OURS} "
        f"| {RIVAL} | {LASSO} | its draws |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, int, int], dict[str, dict[str, dict[str, str]]]] = {}
    for line in lines:
        for name in SETTINGS if line["method"] != OURS else [line["setting"]]:
            if family(name) == family(line["setting"]):
                key = (name, int(line["p"]), int(line["rows"]))
                groups.setdefault(key, {}).setdefault(line["draw"], {})[line["method"]] = line
    order = {name: k for k, name in enumerate(SETTINGS)}
    for key in sorted(groups, key=lambda each: (order[each[0]], *each[1:])):
        whole = [by for by in groups[key].values() if {OURS, RIVAL} <= by.keys()]
        if whole:
            with_lasso = sum(LASSO in by for by in whole)
            f1, error = (
                [_mean([float(by[name][column]) for by in whole if name in by]) for name in METHODS]
                for column in ("f1", "error")
            )
            cells = [SETTINGS[key[0]].words, *map(str, key[1:]), str(len(whole)), *map(_show, f1)]
            cells += [f"{f1[0] - f1[1]:+.2f}".replace("-", "−"), *map(_show, error), str(with_lasso)]
            text.append("| " + " | ".join(cells) + " |")
    return "\n".join(text)


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _show(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2f}"


def write_page(page: Path, text: str) -> None:
    """Replace what stands between the marks of a page."""
    head, rest = page.read_text(encoding="utf-8").split("% table\n")
    tail = rest.split("% end\n")[1]
    page.write_text(f"{head}% table\n\n{text}\n\n% end\n{tail}", encoding="utf-8")


def main() -> None:
    """Run the study, and print or write its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one draw of small tables")
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rows", type=int, nargs="+", default=ROWS)
    parser.add_argument("--only", nargs="+", default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--page", type=Path, help="put the table between the marks of this page")
    parser.add_argument("--folder", type=Path, default=Path("build/continuous"))
    options = parser.parse_args()
    if options.quick:
        options.sizes, options.rows, options.draws = [8], [200], 1
    text = table(run(options.folder, options.only, options.sizes, options.rows, options.draws, options.methods))
    if options.page is None:
        print(text)
    else:
        write_page(options.page, text)


if __name__ == "__main__":
    main()
