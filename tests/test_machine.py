import pytest

from isinglass.errors import DataError
from isinglass.machine import thread_count


def test_given_numbers_win_over_the_environment(monkeypatch):
    monkeypatch.setenv("ISINGLASS_NUM_THREADS", "5")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert thread_count(2) == 2
    assert thread_count() == 5
    monkeypatch.setenv("ISINGLASS_NUM_THREADS", "many")
    assert thread_count() == 3
    monkeypatch.setenv("OMP_NUM_THREADS", "0")
    assert thread_count() == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert thread_count() >= 1


@pytest.mark.parametrize("bad", [0, -1, 1.5, True, "2"])
def test_what_is_no_number_of_threads_is_refused(bad):
    with pytest.raises(DataError, match="n_threads must be an integer of at least 1; got"):
        thread_count(bad)


@pytest.mark.parametrize("many", [257, 2000, 2**31, 2**70])
def test_fault_11_more_threads_than_any_fit_can_use_are_refused(many, monkeypatch):
    with pytest.raises(DataError, match="n_threads must be at most 256; got"):
        thread_count(many)
    monkeypatch.setenv("ISINGLASS_NUM_THREADS", str(many))
    assert thread_count() == 256
