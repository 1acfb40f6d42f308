import json
from types import SimpleNamespace

import numpy as np

from isinglass.json_text import json_text


def test_plain_values():
    odd = SimpleNamespace()
    text = json_text({1: (np.bool_(True), np.inf, odd), "b": [np.arange(2), float("nan"), np.float64(0.5)]})
    assert json.loads(text) == {"1": [True, None, str(odd)], "b": [[0, 1], None, 0.5]}


def test_characters():
    assert json_text("ä\ud800", compact=True) == '"\\u00e4\\ud800"'
    assert json_text("ä") == '"ä"'
