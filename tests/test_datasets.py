"""The bundled tables are what their provenance says."""

import dataclasses
import datetime
from collections import Counter

import numpy as np
import pytest

from isinglass.datasets import load_anes96, load_senate109


@pytest.fixture(scope="module")
def senate():
    return load_senate109()


def test_sizes_and_types(senate):
    assert senate.X.shape == senate.votes.shape == (279, 100)
    assert senate.X.dtype == np.uint8
    assert senate.votes.dtype == np.float64
    assert len(senate.names) == len(senate.states) == len(senate.parties) == 100
    assert len(senate.rollcalls) == 279


def test_missing_votes(senate):
    missing = np.isnan(senate.votes)
    assert missing.sum() == 801
    assert set(np.unique(senate.votes[~missing])) == {0.0, 1.0}


def test_table_is_the_votes_with_missing_as_zero(senate):
    np.testing.assert_array_equal(senate.X, np.nan_to_num(senate.votes, nan=0.0))


def test_members(senate):
    assert Counter(senate.parties) == {"R": 55, "D": 44, "I": 1}
    assert len(set(senate.names)) == 100
    assert set(Counter(senate.states).values()) == {2}, "every state has two senators"
    for name, state, party in zip(senate.names, senate.states, senate.parties, strict=True):
        assert name.endswith(f"({'Indep' if party == 'I' else party} {state})")


def test_rollcalls_are_numbered_and_in_order(senate):
    assert [rollcall.number for rollcall in senate.rollcalls] == list(range(1, 280))
    dates = [rollcall.date for rollcall in senate.rollcalls]
    assert dates == sorted(dates)
    assert {date.year for date in dates} == {2006}
    assert dates[0] == datetime.date(2006, 1, 30)


def test_votes_add_up_to_the_recorded_totals(senate):
    np.testing.assert_array_equal((senate.votes == 1).sum(axis=1), [r.yea for r in senate.rollcalls])
    np.testing.assert_array_equal((senate.votes == 0).sum(axis=1), [r.nay for r in senate.rollcalls])


def test_no_senator_voted_the_same_way_always(senate):
    means = senate.X.mean(axis=0)
    assert ((means > 0) & (means < 1)).all()


def test_result_is_read_only(senate):
    with pytest.raises(ValueError, match="read-only"):
        senate.X[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        senate.votes[0, 0] = 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        senate.X = senate.X


def test_repr_and_description_can_be_read(senate):
    assert repr(senate) == "Senate109(279 roll calls × 100 senators: 55 R, 44 D, 1 I; 801 votes missing)"
    assert "voteview.com" in senate.description
    assert "pscl" in senate.description


def test_answers_are_within_their_scales():
    study = load_anes96()
    assert study.answers.shape == (944, 9)
    ends = dict(zip(study.names, zip(study.answers.min(axis=0), study.answers.max(axis=0), strict=True), strict=True))
    scales = {"TV news": (0, 7), "education": (1, 7), "income": (1, 24), "party": (0, 6), "vote": (0, 1)}
    assert ends == {**scales, **dict.fromkeys(("own position", "Clinton", "Dole"), (1, 7)), "age": (19, 91)}
    assert all(f"`{name}`" in study.description for name in study.names)
    assert not study.answers.flags.writeable


def test_answers_agree_with_what_the_study_is_known_for():
    study = load_anes96()
    clinton, dole, vote, party = (study.answers[:, study.names.index(n)] for n in ("Clinton", "Dole", "vote", "party"))
    assert (clinton < dole).mean() > 0.8  # most see Clinton to the left of Dole
    assert 0.35 < vote.mean() < 0.5  # and Clinton was elected
    assert vote[party >= 5].mean() > 0.8 > 0.1 > vote[party <= 1].mean()
