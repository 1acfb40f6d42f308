"""The pages of the documentation: notebooks run, inventories name what exists, the reference names all that is public.

The gallery and the tutorials are run by the documentation build (``make docs``), which fails if one of them does.
"""

import ast
import dataclasses
import importlib
import importlib.util
import inspect
import json
import re

import numpy as np
import pytest
from test_readme import ROOT

import isinglass

NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))
INVENTORIES = sorted((ROOT / "docs" / "inventories").glob("*.txt"))
SCRIPTS = sorted((ROOT / "examples").glob("*/*.py"))


def run_cells(notebook: dict) -> dict:
    """Run the code cells from top to bottom, as a fresh kernel would; magics are not Python and fail."""
    names = {"__name__": "__main__"}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] == "code":
            source = "".join(cell["source"])
            exec(compile(ast.parse(source), f"cell {number}", "exec"), names)
    return names


@pytest.mark.parametrize(
    "file",
    [pytest.param(file, marks=pytest.mark.long if file.stem == "senate" else [], id=file.stem) for file in NOTEBOOKS],
)
def test_notebooks_run(file, monkeypatch):
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    monkeypatch.chdir(file.parent)
    before = set(file.parent.iterdir())
    names = run_cells(json.loads(file.read_text(encoding="utf-8")))
    plt.close("all")
    assert names["net"].converged_
    assert set(file.parent.iterdir()) == before  # readers run it in a clone


def test_notebooks_are_stored_without_output():
    assert len(NOTEBOOKS) == 2
    for file in NOTEBOOKS:
        notebook = json.loads(file.read_text(encoding="utf-8"))
        assert (notebook["nbformat"], notebook["metadata"]["language_info"]["name"]) == (4, "python")
        code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
        assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_broken_cells_are_noticed():
    with pytest.raises(ZeroDivisionError):
        run_cells({"cells": [{"cell_type": "code", "source": ["x = 1\n", "x / 0"]}]})


@pytest.mark.parametrize("file", INVENTORIES, ids=lambda file: file.stem)
def test_inventories_name_what_exists(file):
    head, *lines = file.read_text(encoding="utf-8").splitlines()
    assert head == "# Sphinx inventory version 1"
    for line in lines[2:]:
        name, kind, location = line.split()
        module, _, attribute = name.rpartition(".")
        item = getattr(importlib.import_module(module), attribute)
        assert inspect.isclass(item) == (kind == "class"), name
        assert location.endswith(".html")


def test_reference_has_a_page_for_everything_public():
    reference = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    entries = set(re.findall(r"^   ([\w.]+)$", reference, re.MULTILINE))
    wanted = set(isinglass._HOME)
    for name in isinglass._SUBMODULES:
        wanted |= {f"{name}.{item}" for item in getattr(isinglass, name).__all__ if item not in isinglass._HOME}
    assert wanted - entries == {"exact.MAX_NODES", "exact.exact_sample"}  # a number; listed as simulate.exact_sample


def test_help_names_what_records_hold():
    records = [item for item in map(isinglass.__getattr__, isinglass._HOME) if dataclasses.is_dataclass(item)]
    assert isinglass.Solution in records
    for record in records:
        words = set(re.findall(r"\w+", " ".join(base.__doc__ or "" for base in record.__mro__)))
        assert {field.name for field in dataclasses.fields(record)} <= words, record


def test_every_page_has_a_title_and_says_what_it_does():
    names = [file.name for file in SCRIPTS]
    assert len([file for file in SCRIPTS if file.parent.name == "gallery"]) >= 12
    for file in SCRIPTS:
        first, title, underline, *_ = file.read_text(encoding="utf-8").splitlines()
        assert (first, underline) == ('"""', "=" * len(title)), file.name
    assert len(set(names)) == len(names)


def test_the_article_cites_what_it_lists():
    article = (ROOT / "docs" / "joss" / "paper.md").read_text(encoding="utf-8")
    cited = set(re.findall(r"@([a-z]+\d{4})", article))
    listed = set(re.findall(r"@article\{(\w+),", (ROOT / "docs" / "joss" / "paper.bib").read_text(encoding="utf-8")))
    assert cited == listed


@pytest.mark.parametrize(("page", "n_rows"), [("docs/joss/paper.md", 7), ("README.md", 6)])
def test_times_of_other_packages_are_those_of_the_comparison(page, n_rows):
    measured = (ROOT / "docs" / "compares.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|.*?\| ([\d.]+) \| ([\d.]+) \|.*$", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == n_rows
    for theirs, ours in rows:
        assert f"| {theirs} | {ours} |" in measured


def test_what_is_said_of_the_study_of_continuous_columns_is_in_its_table():
    page = (ROOT / "docs" / "benchmarks" / "continuous.md").read_text(encoding="utf-8")
    lines = [line for line in page.splitlines() if line.startswith("|") and "---" not in line]
    head, *rows = [line.strip("| ").split(" | ") for line in lines]
    assert head[4:7] == ["F1: isinglass", "EBICglasso", "GraphicalLassoCV"]
    lines = [row for row in rows if not row[0].startswith("t with")]
    ours, theirs, third, _, error, their_error, third_error = np.array([row[4:11] for row in lines], dtype=float).T
    text = " ".join(page.split())
    assert f"Over the {len(lines)} lines above" in text
    means = f"the mean F1 is {ours.mean():.2f} for isinglass and {theirs.mean():.2f} for EBICglasso"
    leads = f"by {(ours - theirs).min():.2f} to {(ours - theirs).max():.2f}"
    assert means.replace("0.", ".") in text
    assert leads.replace("0.", ".") in text
    assert (their_error > error).all()
    assert (third < ours).all()
    assert f"is smaller than ours in {(third_error < error).sum()} of the {len(lines)} lines" in text


ONE_TO_TEN = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def quoted_facts():
    """Yield pages and phrases in them that quote numbers of the code."""
    from isinglass import EBIC, StARS, TwoStage
    from isinglass.app import session
    from isinglass.cli.info import TRIAL, TRIAL_ROWS
    from isinglass.data import weights
    from isinglass.data.column import BLANKS
    from isinglass.data.files import documents
    from isinglass.data.meaning import grid, guards, recognition, refusals
    from isinglass.data.parts import backends, read_parts
    from isinglass.evaluate import elimination, marginals
    from isinglass.evaluate.centrality import MOST_PATHS
    from isinglass.exact import MAX_NODES
    from isinglass.export.network_files import LINES, ROWS
    from isinglass.select import (
        ImputationSettings,
        error_rates,
        imputation,
        parallel,
        path_selectors,
        prediction_check,
        stochastic_em,
        task,
        two_stage,
    )
    from isinglass.select.group_comparison import MOST_UNEQUAL
    from isinglass.show.plot import arrange
    from isinglass.show.plot.figures import MOST_ROWS
    from isinglass.simulate import mixing
    from isinglass.solve import alphas, device
    from isinglass.storage import default_limit
    from isinglass.variables import MAX_CATEGORIES

    word, how = ONE_TO_TEN.__getitem__, ImputationSettings()
    assert refusals.ZERO_SHARE_OF_COLUMN == 0.5
    most = inspect.signature(isinglass.report.write_report).parameters["max_edges"]
    back, noise = word(stochastic_em.LOOK_BACK), stochastic_em.NOISE
    yield "missing.md", f"if more than {100 * refusals.ZERO_SHARE:g} % of all cells, more than half of a column"
    yield "missing.md", f"more than {100 * refusals.DROPPED_SHARE:g} % of the rows"
    yield "missing.md", f"fewer than {word(imputation.FEW_ANSWERS)} answers"
    yield "missing.md", f"{word(stochastic_em.COPIES_PER_ROUND)} completed copies of each incomplete row"
    yield "missing.md", f"a penalty of {word(int(stochastic_em.PRIOR))} rows"
    yield "missing.md", f"{word(stochastic_em.SWEEPS)} Gibbs sweeps"
    yield "missing.md", f"over {back} rounds by at most {noise} times its change in one round"
    yield "missing.md", f"mean of the last {word(stochastic_em.AVERAGED)} networks"
    yield "missing.md", f"`n_imputations` ({how.n_imputations})"
    kept, kept_if_few = (round(100 * share) for share in (two_stage.KEEP, two_stage.KEEP_IF_FEW_ROWS))
    yield "selection.md", f"with $\\gamma = {TwoStage().gamma}$ selects the network"
    yield "selection.md", f"Both stages are repeated in {word(TwoStage().n_folds)} folds"
    doubt = word(int(prediction_check.DOUBT))
    yield "selection.md", f"by more than {doubt} standard errors and by more than {100 - kept} %"
    yield "selection.md", f"({100 - kept_if_few} % if there are no more rows than columns)"
    yield "selection.md", f"keeps {kept} % ({kept_if_few} %) of the gain"
    yield "selection.md", f"solved to a relative gap of {task.LOOSE:g}"
    yield "discrete.md", f"are solved to a tolerance of {task.LOOSE:g}"
    yield "selection.md", f"with fewer than {path_selectors.FEW_COLUMNS} it misses most edges"
    yield "selection.md", f"Draw {StARS().n_subsamples} subsamples of the rows"
    yield "selection.md", f"exceeds the threshold of {StARS().threshold}"
    yield "selection.md", f"{word(path_selectors.AT_ONCE)} alphas at a time, until"
    yield "selection.md", f"lost {word(parallel.ATTEMPTS)} times in a row"
    yield "trusting.md", f"$\\gamma = {EBIC().gamma}$ means the same in both"
    yield "trusting.md", f"at least {word(error_rates.LEAST_ROWS)} rows per parameter"
    yield "trusting.md", f"fewer than {word(int(error_rates.LEAST_EXPECTED))} rows are expected"
    yield "groups.md", f"differ by more than {100 * MOST_UNEQUAL:g} percentage points"
    yield "plots.md", f"in networks of up to {arrange.BENT_UP_TO} nodes"
    yield "plots.md", f"of the {MOST_ROWS} strongest edges"
    yield "report.md", f"is at most {MOST_PATHS // 1000} 000"
    yield "report.md", f"at most {most.default} pairs"
    yield "estimators.md", f"the likelihood itself, up to {MAX_NODES} columns"
    yield "coming-from-r.md", f"the likelihood itself, up to {MAX_NODES} columns"
    yield "simulation.md", f"Above {mixing.RHAT_LIMIT} there is a warning"
    yield "simulation.md", f"Below {mixing.ESS_PER_CHAIN} per chain there is a warning"
    limits, words = documents.Limits(), ", ".join(f"`{word}`" for word in ("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN"))
    yield (
        "tables.md",
        f"The limits are {limits.max_rows // 10**6} million rows, {limits.max_columns // 1000} 000 columns",
    )
    yield "tables.md", f"and {documents.LARGEST >> 30} GiB each"
    assert default_limit(1, documents.LARGEST) == 256 * 2**20
    assert default_limit(10**8, documents.LARGEST) == 25 * 10**8
    yield "tables.md", "may expand to 25 times its size or to 256 MiB"
    fewest = word(recognition.CATEGORIES_TO_CHECK)
    yield "tables.md", f"at most {MAX_CATEGORIES} categories and, from {fewest} categories on"
    yield "tables.md", f"ordered columns whose values are {recognition.MANY_LEVELS} or more steps apart"
    yield "tables.md", f"categories with fewer than {word(guards.FEW_ROWS)} rows"
    yield "tables.md", f"at least {word(int(weights.MEAN_COUNT))} times the number of rows"
    assert weights.SUM_RATIO == 2.0
    yield "tables.md", "more than twice or less than half of it"
    assert {word.strip("`") for word in words.split(", ")} < BLANKS
    yield "tables.md", words
    yield "continuous.md", f"at least {grid.LEAST_STEPS} and at most {grid.MOST_STEPS}"
    yield "continuous.md", f"from the {100 * grid.TAIL:g} % to the {100 - 100 * grid.TAIL:g} % quantile"
    yield (
        "continuous.md",
        f"at most {word(grid.UNIT_DECIMALS)} decimals are kept as they are if the grid has at most {grid.MOST_KEPT}",
    )
    yield "continuous.md", f"more than {recognition.MANY_LEVELS} different values"
    yield "continuous.md", f"(skewness beyond {guards.SKEWNESS:g})"
    yield "covariates.md", f"up to {grid.FINE_STEPS} steps instead of {grid.LEAST_STEPS} to {grid.MOST_STEPS}"
    yield (
        "cli.md",
        f"{TRIAL_ROWS} rows, {2 * TRIAL_ROWS} rows, and so on, until {word(int(TRIAL))} seconds",
    )
    yield "app.md", f"tables above {session.MOST_BYTES >> 30} GiB"
    yield "likelihood.md", f"more than $2^{{{elimination.MAX_STATES.bit_length() - 1}}}$ entries"
    yield "estimators.md", f"more than $2^{{{marginals.MOST_STATES.bit_length() - 1}}}$ entries"
    yield "scale.md", f"up to {read_parts.LARGE // 10**8}·10⁸ cells"
    yield "scale.md", f"few ones (below {100 * backends.RARE:g} %), {read_parts.SPARSE_COLUMNS} columns or more"
    yield "algorithm.md", f"With up to {alphas.ALL_PAIRS_UP_TO} columns screening costs more than it saves"
    yield "install.md", f"needs {device.BYTES_PER_CELL} bytes per cell"
    yield from (("networks.md", f'`"{name}"`') for name in [*ROWS, *LINES])
    yield from _facts_about_reading()
    yield from _facts_about_stages()
    yield from _facts_about_results()
    yield from _facts_about_estimates()
    yield from _facts_about_the_core()


def _facts_about_reading():
    from isinglass.data.files import header, text
    from isinglass.data.meaning import levels, scores
    from isinglass.data.parts import backends

    known = dict(levels._KNOWN)
    for pair in ("no/yes", "false/true", "disagree/agree", "absent/present", "incorrect/correct", "nay/yea"):
        zero, one = pair.split("/")
        assert known[zero] == one
        yield "tables.md", pair
    yield from (("tables.md", f"`{name}`") for name in header.ID_NAMES - {"", "__index_level_0__"})
    assert list(text.DELIMITERS) == ["tab", "comma", "semicolon", "bar", "blank"]
    yield (
        "tables.md",
        f"Tab, comma, semicolon, bar and blank (any run of blanks and tabs) are tried on the first "
        f"{text.SAMPLE_RECORDS} records",
    )
    yield "discrete.md", f"at most {scores.FARTHEST} steps apart"
    assert backends.SHARE == 0.5
    yield "scale.md", "half of the memory is used"
    yield "scale.md", f"with about {round(backends.BYTES_OF_A_CELL)} bytes per cell"
    yield "scale.md", f"with {backends.BYTES_OF_A_ONE} bytes per one and 1 bit per cell"


def _facts_about_stages():
    from isinglass.select import prediction_check, stages, two_stage

    assert two_stage.MOST_SEARCHED == 500_000
    yield "scale.md", "on a random sample of at most half a million rows"
    assert stages.SPARSER == 4.0
    yield "scale.md", "starting at four times the alphas that the sample suggests"
    first, second = stages.FIRST, stages.SECOND
    assert first.stride_for(10**4) == 2
    yield "selection.md", "never visits more than every second alpha of its grid"
    assert first.stride_for(9) > first.stride_for(10) == 2
    assert "(10 or more give the same pass)" in isinglass.IsingNetwork.__doc__
    yield "selection.md", f"$r = {first.ratio}$ in stage 1 and ${second.ratio}$ in stage 2"
    yield "selection.md", f"{ONE_TO_TEN[first.stride]} steps of the lattice (stage 1) or {ONE_TO_TEN[second.stride]}"
    yield "selection.md", f"criterion is {stages.HOPELESS:g} above that of the empty network"
    assert (stages.TURNED, stages.FARTHEST) == (0.5, 0.25)
    yield "selection.md", "alpha is below half of the best one so far"
    yield "notebook.md", "stage 2 ends at half of its best alpha"
    judged = two_stage.KEEP + prediction_check.CLEARLY * (1 - two_stage.KEEP)
    yield "notebook.md", f"if the second keeps {100 * judged:g} % of the gain of the first"


def _facts_about_results():
    from isinglass import metrics
    from isinglass.evaluate import likelihood
    from isinglass.show.plot import canvas, drawing, labels

    def default(function, name):
        return inspect.signature(function).parameters[name].default

    yield "likelihood.md", f"until it is at most `tol`, {default(metrics.log_partition, 'tol')} nats"
    assert likelihood._POOR == 0.5
    yield "likelihood.md", "a warning if it stays above half a nat"
    yield "trusting.md", f"all comparisons together have a level of {100 * default(metrics.check_model, 'level'):g} %"
    yield "plots.md", f"Long names are cut after {default(canvas.readable, 'longest')} characters"
    yield "plots.md", f"no label is smaller than {labels.LEAST_FONT:g} points"
    yield "plots.md", f"Figures have {canvas.PRINT:g} dots per inch"
    yield "plots.md", f"names of up to {ONE_TO_TEN[drawing.SHORT]} characters"


def _facts_about_estimates():
    from isinglass import ExactIsing, IsingLasso, NodewiseIsing, Run, StARS
    from isinglass.estimators.base import IsingEstimator
    from isinglass.select import SELECTORS, stochastic_em

    classes = {name for name in isinglass.__all__ if isinstance(getattr(isinglass, name), type)}
    estimators = {name for name in classes if issubclass(getattr(isinglass, name), IsingEstimator)}
    assert len(estimators) == 8
    yield "estimators.md", "Eight classes have the interface of scikit-learn"
    yield from (("estimators.md", f"| `{name}(") for name in estimators)
    alpha = IsingLasso().alpha
    assert NodewiseIsing().alpha == ExactIsing().alpha == alpha / 2
    yield "estimators.md", f"`IsingLasso(alpha={alpha})`"
    yield from (("design.md", f"`{selector.__name__}`") for selector in SELECTORS.values())
    assert {field.name for field in dataclasses.fields(Run)} == set(RUN_IN_WORDS)
    yield "design.md", ", ".join(RUN_IN_WORDS.values()) + ": how something is computed"
    assert (StARS()._size(144), StARS()._size(145)) == (115, 120)  # ⌊0.8 · 144⌋, ⌊10 √145⌋
    yield "selection.md", "$\\lfloor 10\\sqrt{N} \\rfloor$ rows each, or $\\lfloor 0.8 N \\rfloor$ up to 144 rows"
    assert stochastic_em.LOOK_BACK == 3
    yield "missing.md", "its penalty is chosen again in every third round"
    assert round(100 * 0.8**20) == 1
    yield "missing.md", "With 20 columns and 20 % of the cells missing, one row in a hundred is complete"


def _facts_about_the_core():
    text = (ROOT / "src" / "isinglass" / "_core" / "tuning.hpp").read_text(encoding="utf-8")
    found = re.findall(r"\b([A-Z_]+) =\s+([\d.e'-]+)[;,]", text)
    value = {name: float(number.replace("'", "")) for name, number in found}
    yield (
        "algorithm.md",
        f"Pairs below ${value['SMALLEST_KEPT']:g}\\,\\alpha\\,\\omega_{{st}}$ are therefore always left out",
    )
    yield "algorithm.md", f"no step below the factor {value['STEEPEST']:g}"
    assert value["UNCHANGED_CURVATURE"] == 0.08
    yield "algorithm.md", "cannot have changed by more than eight percent"
    yield "algorithm.md", f"the margin against the observed answer exceeds {value['BADLY_PREDICTED']:g}"
    yield "algorithm.md", f"the face (up to {value['MAX_PRECISE']:g} coefficients)"
    assert (value["SLOW_STEPS"], value["STAGNATION"], value["OPERATOR_PATIENCE"]) == (6, 40, 4)
    yield "algorithm.md", "After six steps without progress"
    yield "algorithm.md", "after forty slow steps in a row"
    yield "algorithm.md", "more products than four times the width of a block"
    yield "algorithm.md", f"From about {value['WIDEST_BLOCK']:g} neighbors per node on"
    assert (value["NEGLIGIBLE_PENALTY"], value["PROJECTION_ROUNDINGS"], value["FREE_RIDGE"]) == (1000, 8, 1e-9)
    yield "math.md", "A penalty below a thousand rounding errors"
    yield "math.md", "more than eight roundings of the block's norm"
    yield "math.md", "$\\varepsilon = 10^{-9}$ (`FREE_RIDGE` in `tuning.hpp`"
    assert value["POLL_TICKS"] == 1e8
    yield "core.md", "At most every 100 million ticks of the processor's clock"
    patterns = (value["MAX_PATTERN_COLUMNS"], value["ROWS_PER_PATTERN"], value["MIN_PATTERN_CELLS"])
    assert patterns == (12, 8, 30000)
    yield "notebook.md", "more than 12 neighbors or fewer than eight rows per possible pattern"
    yield "notebook.md", "Below 30 000 cells it costs more than it saves"
    yield "notebook.md", f"**to {value['INNER_TOLERANCE']:g}**"
    yield "notebook.md", f"**at most {value['CONTRACTION']:g}**"


RUN_IN_WORDS = {
    "n_threads": "threads",
    "n_jobs": "processes",
    "device": "device",
    "progress": "progress",
    "checkpoint": "checkpoint",
    "max_time": "time limit",
}


def missing_imports(source):
    """Return the names that a program imports from the package and that it does not have."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "isinglass":
            if importlib.util.find_spec(node.module) is None:
                yield node.module
                continue
            try:
                module = importlib.import_module(node.module)
            except ModuleNotFoundError as error:
                if error.name != "torch":  # which tests do without
                    raise
                continue
            for name in (alias.name for alias in node.names):
                if not hasattr(module, name) and importlib.util.find_spec(f"{node.module}.{name}") is None:
                    yield f"{node.module}.{name}"


@pytest.mark.parametrize("folder", ["benchmarks", "examples", "paper", "tools"])
def test_programs_import_what_exists(folder):
    files = [path for path in (ROOT / folder).rglob("*.py") if "isinglass" in path.read_text(encoding="utf-8")]
    found = {path.name: list(missing_imports(path.read_text(encoding="utf-8"))) for path in files}
    assert files
    assert not any(found.values()), found
    assert list(missing_imports("from isinglass.select import Method, nothing")) == ["isinglass.select.nothing"]
    assert list(missing_imports("from isinglass.no import Method")) == ["isinglass.no"]


def test_pages_quote_the_numbers_of_the_code():
    pages = {page: " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split()) for page, _ in quoted_facts()}
    assert [(page, phrase) for page, phrase in quoted_facts() if phrase not in pages[page]] == []


def test_what_the_pages_say_is_refused_is_refused():
    """Columns of more than two values: the last section of discrete.md; sparse tables: estimators.md."""
    from scipy import sparse

    from isinglass import Fixed, IsingLasso, Method, as_table, exact_path, ising_path, read_parts
    from isinglass.errors import DataError

    rows = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 0], [2, 1, 2]]
    table = as_table(rows, kinds="ordinal")
    for refuse in (
        lambda: exact_path(table, [0.1]),
        lambda: Method("exact", Fixed(0.1)).fit(table),
        lambda: ising_path(table, [0.1], device="cuda"),
        lambda: read_parts([np.array(rows), np.array(rows)]),
    ):
        with pytest.raises(DataError):
            refuse()
    bits = sparse.csr_array(np.array([[0, 1], [1, 0], [1, 1], [0, 0]]))
    net = IsingLasso(0.05).fit(bits)
    for refuse in (net.predict, net.predict_proba):
        with pytest.raises(DataError, match="X must be dense here"):
            refuse(bits)
