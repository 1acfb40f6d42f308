import warnings

import matplotlib as mpl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from matplotlib.lines import Line2D

from isinglass.show.plot import canvas
from isinglass.show.plot.canvas import axes_or_new, readable, write_legend

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def test_given_axes_are_used_and_no_figure_is_made():
    ax = mpl.figure.Figure().add_subplot()
    assert axes_or_new(ax, (1, 1)) is ax
    assert plt.get_fignums() == []


def test_new_axes_have_the_size():
    ax = axes_or_new(None, (7, 3))
    assert tuple(ax.figure.get_size_inches()) == (7, 3)
    assert plt.gcf() is ax.figure


@given(st.text(st.characters(exclude_categories=[]), max_size=100), st.integers(4, 40))
def test_every_text_can_be_drawn(text, longest):
    shown = readable(text, longest)
    assert len(shown) <= longest
    figure = mpl.figure.Figure(figsize=(1, 1))
    figure.text(0, 0, shown, **canvas.PLAIN)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from")  # matplotlib draws a box, and says so
        figure.draw_without_rendering()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain", "plain"),
        (" two \n\t lines ", "two lines"),
        ("$x_1$ and _", "$x_1$ and _"),
        ("</script>", "</script>"),
        ("café Ωθ", "café Ωθ"),
        ("a\x00b\u200d", "ab"),
        ("", ""),
        ("n" * 10_000, "n" * 29 + "…"),
        (3, "3"),
    ],
)
def test_readable(name, expected):
    assert readable(name) == expected


def test_legends_show_every_text_as_it_is():
    ax = axes_or_new(None, (3, 3))
    texts = ["_hidden", "$a$", "two_words", ""]
    legend = write_legend(ax, [(Line2D([], []), text) for text in texts])
    assert [text.get_text() for text in legend.get_texts()] == texts
    assert not any(text.get_parse_math() for text in legend.get_texts())
    ax.figure.draw_without_rendering()
