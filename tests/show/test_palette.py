import itertools

import numpy as np
import pytest

from isinglass.errors import DataError
from isinglass.show import palette

# Linear RGB -> what a dichromat sees (Viénot, Brettel and Mollon 1999), for the two common deficiencies.
RGB_TO_LMS = np.array([[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.0299566, 0.184309, 1.46709]])
PROTANOPIA = np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]])
DEUTERANOPIA = np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]])


def color_groups(groups, chosen=None):
    names = [f"x{k}" for k in range(len(groups))]
    return palette.read_groups(list(groups), chosen, names)[1]


def seen(color, loss):
    linear = (np.array(palette.channels(color)) / 255) ** 2.2
    simulated = np.linalg.inv(RGB_TO_LMS) @ loss @ RGB_TO_LMS @ linear
    return np.clip(simulated, 0, 1) ** (1 / 2.2)


@pytest.mark.parametrize("loss", [np.eye(3), PROTANOPIA, DEUTERANOPIA], ids=["none", "protanopia", "deuteranopia"])
def test_colors_differ_for_everyone(loss):
    colors = {palette.POSITIVE, palette.NEGATIVE, palette.BETWEEN, palette.NEUTRAL, *palette.GROUPS[:4]}
    for one, two in itertools.combinations(colors, 2):
        assert np.linalg.norm(seen(one, loss) - seen(two, loss)) > 0.12, (one, two)


def test_traffic_lights_would_fail_that_test():
    red, green = "#c04040", "#408040"
    assert np.linalg.norm(seen(red, DEUTERANOPIA) - seen(green, DEUTERANOPIA)) < 0.35
    assert np.linalg.norm(seen(red, np.eye(3)) - seen(green, np.eye(3))) > 0.45


def test_groups_are_told_apart_as_long_as_there_are_colors():
    colors = color_groups(range(len(palette.GROUPS)))
    assert len(set(colors.values())) == len(palette.GROUPS)
    assert len(color_groups(range(100))) == 100


def test_chosen_colors_are_not_given_to_others():
    chosen = dict(zip("abc", palette.GROUPS, strict=False))
    colors = color_groups("abcdef", chosen)
    assert {group: colors[group] for group in "abc"} == chosen
    assert not {colors[group] for group in "def"} & set(chosen.values())


def test_order_of_first_occurrence_decides():
    assert color_groups("aab") == color_groups("ab")
    assert color_groups("ba")["b"] == color_groups("ab")["a"]


def test_colors_have_names_and_channels():
    assert [palette.read_color(color) for color in ("red", "#ABCDEF")] == ["#d55e00", "#abcdef"]
    assert palette.channels("#d55e00") == (213, 94, 0)
    groups = color_groups(["R", "D", "R", None], {"R": "red"})
    assert groups == {"R": "#d55e00", "D": "#e69f00", None: "#bbbbbb"}


def test_one_mapping_has_the_colors_of_several_networks():
    assert color_groups("RD", {"R": "red", "D": "blue", "I": "green"}) == {"R": "#d55e00", "D": "#0072b2"}
    assert color_groups([1, 1.0, 2], {"1": "blue"}) == {"1": "#0072b2", "2": "#e69f00"}
    assert color_groups([1.0, float("nan"), 2.5], {1: "blue"}) == {"1": "#0072b2", None: "#bbbbbb", "2.5": "#e69f00"}
    assert color_groups(["v1.0"]) == {"v1.0": "#e69f00"}
    assert color_groups(["1"], {1.0: "blue"}) == {"1": "#0072b2"}
    with pytest.raises(DataError, match=r"groups that occur \('R', 'D'\); got 'Rep'"):
        color_groups("RD", {"Rep": "red", "D": "blue"})


@pytest.mark.parametrize("color", ["crimson", "#12345", "#1234567", "rgb(0,0,0)", 3, None])
def test_other_colors_are_refused(color):
    with pytest.raises(DataError, match="must be #rrggbb or one of"):
        palette.read_color(color)
