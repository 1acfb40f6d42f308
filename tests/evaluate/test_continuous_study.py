"""The study of recovery of continuous networks: what it draws, how it scores, and that it resumes."""

import numpy as np
import pytest

from benchmarks import continuous as study


@pytest.mark.parametrize("name", study.SETTINGS)
def test_tables_have_the_network_that_they_claim(name):
    sample = study.draw_sample(name, 8, 4000, 0)
    assert sample.X.shape == (4000, 8)
    assert (sample.truth == sample.truth.T).all()
    assert np.count_nonzero(np.triu(sample.truth, 1)) == round(8 * study.EDGES_PER_COLUMN)
    same = study.draw_sample(name, 8, 4000, 0)
    assert (same.X == sample.X).all()
    assert (study.draw_sample(name, 8, 4000, 1).truth != sample.truth).any()
    if name in (
        "gaussian",
        "mixed",
    ):  # given the others, continuous columns are normal: the truth is that of regressions
        s = int(np.flatnonzero([kind == "continuous" for kind in sample.kinds])[0])
        others = np.delete(np.arange(8), s)
        X = sample.X - sample.X.mean(0)
        slopes = np.linalg.lstsq(X[:, others], X[:, s], rcond=None)[0]
        scale = X.std(0) if name == "gaussian" else np.ones(8)
        truth = sample.truth[s, others]
        assert (np.abs(slopes * scale[others] / scale[s])[truth == 0] < 0.1).all()
        assert (np.sign(slopes) == np.sign(truth))[truth != 0].all()


def test_scores():
    sample = study.Sample(np.zeros((2, 3)), ("continuous", "continuous", "binary"), np.zeros((3, 3)))
    for s, t, value in [(0, 1, 0.3), (1, 2, 2.0)]:
        sample.truth[s, t] = sample.truth[t, s] = value
    found = np.zeros((3, 3))
    found[0, 1] = found[1, 0] = 0.2
    found[0, 2] = found[2, 0] = 5.0
    assert study.score(sample, found) == pytest.approx({"f1": 0.5, "error": 1 / 3, "n_edges": 2})


@pytest.mark.long
def test_a_quick_study_finds_the_network_and_resumes(tmp_path, monkeypatch):
    lines = study.run(tmp_path, ["gaussian", "counts"], [8], [400], 1)
    f1 = {(line["setting"], line["method"]): float(line["f1"]) for line in lines}
    assert f1["gaussian", study.OURS] > 0.8
    assert f1["gaussian", study.OURS] > f1["gaussian", study.LASSO]
    assert ("gaussian", study.RIVAL) in f1 or not study.has_qgraph()
    monkeypatch.setattr(study, "fit_ours", None)
    monkeypatch.setattr(study, "fit_lasso", None)
    assert study.run(tmp_path, ["gaussian", "counts"], [8], [400], 1) == lines
    if study.has_qgraph():
        assert len(study.table(lines).splitlines()) == 4
