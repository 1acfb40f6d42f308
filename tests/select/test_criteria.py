import numpy as np
import pytest
from choices import cross_validate, select_ebic

from isinglass import simulate
from isinglass.errors import DataError, GridEndWarning
from isinglass.select import Run, compare_criteria, ebic


@pytest.fixture(scope="module")
def table():
    return simulate.exact_sample(simulate.chain_network(6, strength=1.5, fields="balanced"), 300, random_state=3)


def test_rows_are_the_choices(table):
    found = compare_criteria(table, alphas=20, n_folds=5, random_state=0)
    cv = cross_validate(table, alphas=20, n_folds=5, random_state=0)
    gammas = (0.0, 0.25, 0.5)
    numbers = [select_ebic(table, alphas=20, gamma=gamma).index for gamma in gammas]
    numbers += [cv.best("best"), cv.best("1se")]
    assert found.criterion == ("EBIC γ=0", "EBIC γ=0.25", "EBIC γ=0.5", "CV best", "CV 1se")
    assert len(found) == 5
    assert found.alpha.tolist() == cv.path.alphas[numbers].tolist()
    assert found.edges.tolist() == [cv.path[k].n_edges for k in numbers]
    assert found.positive_edges.tolist() == [int((cv.path[k].edge_values > 0).sum()) for k in numbers]
    assert found.held_out.tolist() == cv.mean[numbers].tolist()
    np.testing.assert_allclose(found.ebic, ebic(table, cv.path)[numbers])
    assert list(found.columns) == ["criterion", "alpha", "edges", "positive_edges", "ebic", "held_out"]


def test_choices_made_elsewhere_get_a_row(table):
    alphas = [0.2, 0.1, 0.02, 0.01, 0.0]
    found = compare_criteria(table, alphas=alphas, others={"StARS": 0.05, "mine": 0.1}, n_folds=3, random_state=0)
    assert found.criterion[-2:] == ("StARS", "mine")
    assert found.alpha[-2:].tolist() == [0.05, 0.1]
    assert found.path.alphas.tolist() == [0.2, 0.1, 0.05, 0.02, 0.01, 0.0]


def test_repr_is_a_table(table):
    lines = repr(compare_criteria(table, alphas=[0.1, 0.02, 0.01, 0.0], n_folds=3, random_state=0)).splitlines()
    assert len(lines) == 6
    assert len({len(line) for line in lines}) == 1
    assert lines[0].split()[:4] == ["criterion", "alpha", "edges", "positive"]


def test_ends_are_reported_per_criterion(table):
    with pytest.warns(GridEndWarning) as caught:
        compare_criteria(table, alphas=[0.3, 0.1], gammas=[0.25], n_folds=3, random_state=0)
    text = " ".join(str(warning.message) for warning in caught)
    assert "EBIC γ=0.25 choice" in text
    assert "CV best choice" in text


def test_identical_bits_for_any_number_of_jobs(table):
    runs = [compare_criteria(table, alphas=10, n_folds=3, random_state=0, run=Run(n_jobs=n)) for n in (1, 2)]
    assert runs[0].held_out.tobytes() == runs[1].held_out.tobytes()


def test_other_alphas_are_checked(table):
    with pytest.raises(DataError, match="others must map names to alphas"):
        compare_criteria(table, others={"mine": -1.0})
