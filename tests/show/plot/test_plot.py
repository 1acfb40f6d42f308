"""The package of pictures as a whole."""

import inspect
import subprocess
import sys

import pytest

from isinglass.show import plot


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
