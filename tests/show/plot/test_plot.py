"""The package of pictures as a whole."""

import inspect
import subprocess
import sys

import numpy as np
import pytest
from matplotlib import pyplot as plt

from isinglass import Network, bootstrap, compare_groups, ising_path
from isinglass.errors import DataError
from isinglass.show import plot

MODEL = Network([0, 0, 0], [[0, 1], [1, 2]], [2, -1])
ROWS = np.random.default_rng(0).integers(0, 2, (60, 3))


def test_every_picture_takes_a_result_and_axes_and_returns_axes():
    for name in set(plot.__all__) - {"paper_axes"}:
        parameters = list(inspect.signature(getattr(plot, name)).parameters.values())
        several = parameters[1].name == "axes"
        assert [p.name for p in parameters[:2]] == ["result", "axes" if several else "ax"]
        assert parameters[1].default is None
        assert all(p.kind in (p.KEYWORD_ONLY, p.VAR_KEYWORD) for p in parameters[2:])
        assert inspect.signature(getattr(plot, name)).return_annotation == ("AnyArray" if several else "Axes")


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_matplotlib_is_loaded_on_first_use():
    loaded = "'matplotlib' in sys.modules"
    assert run(f"import sys, isinglass; assert not {loaded}; isinglass.plot; assert {loaded}").returncode == 0


def test_pyplot_is_not_loaded_before_it_is_needed():
    assert run("import sys, isinglass.show.plot; assert 'matplotlib.pyplot' not in sys.modules").returncode == 0


@pytest.mark.parametrize("package", ["matplotlib"])
def test_without_matplotlib_the_message_says_what_to_do(package):
    result = run(f"import sys; sys.modules[{package!r}] = None; import isinglass.show.plot")
    assert result.returncode == 1
    assert 'pip install "isinglass[plot]"' in result.stderr


@pytest.mark.parametrize("name", sorted(set(plot.__all__) - {"paper_axes"}))
@pytest.mark.parametrize("result", [3, None, [], "model", np.arange(3)])
def test_other_results_are_refused(name, result):
    with pytest.raises(DataError, match=r"(result|network) must be"):
        getattr(plot, name)(result)
    assert plt.get_fignums() == []


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: plot.centrality(MODEL, of=[]), r"of must be one or more of strength, .*bridge_strength, .*; got \[\]"),
        (lambda: plot.centrality(MODEL, of=3), "of must be one or more of strength"),
        (lambda: plot.centrality(MODEL, of=["fame"]), "of must be one of strength"),
        (lambda: plot.centrality(MODEL, width=-5), "width must be a positive number; got -5"),
        (lambda: plot.centrality(MODEL, ["left"], of="strength"), "axes must be axes of matplotlib, one for each of 1"),
        (lambda: plot.paper_axes(float("nan")), "width must be a positive number"),
        (lambda: plot.path(ising_path(ROWS, [0.1]), alpha="best"), "alpha must be finite"),
        (lambda: plot.path(ising_path(ROWS, [0.1]), 3), "ax must be axes of matplotlib; got 3"),
    ],
)
def test_arguments_are_checked(draw, message):
    with pytest.raises(DataError, match=message):
        draw()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": -5}, "width must be a positive number; got -5"),
        ({"level": "all"}, "level must be between 0 and 1"),
    ],
)
def test_arguments_of_comparisons_are_checked(options, message):
    found = compare_groups(ROWS, np.repeat(["a", "b"], 30), 0.02, n_permutations=1)
    draw = plot.group_networks if "width" in options else plot.group_difference
    with pytest.raises(DataError, match=message):
        draw(found, **options)


def test_arguments_of_a_bootstrap_are_checked():
    found = bootstrap(ROWS, 0.02, n_boot=2)
    with pytest.raises(DataError, match=r"""of must be one of "edges", "strength"; got \['edges'\]"""):
        plot.bootstrap_differences(found, of=["edges"])
    with pytest.raises(DataError, match="n_edges must be an integer"):
        plot.bootstrap_intervals(found, n_edges=0)
