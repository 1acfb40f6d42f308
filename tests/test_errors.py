"""Errors with one base, and warnings that are given once, in the name of the caller."""

import io
import threading
import warnings

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score

from isinglass import IsingLasso, Method, StARS, errors, ising_path, read_table
from isinglass.errors import (
    ConstantColumnWarning,
    ConvergenceWarning,
    DataWarning,
    FewColumnsWarning,
    GridEndWarning,
    listed,
    setting,
    suppress_warnings,
    warn,
)


def test_every_error_and_warning_has_the_common_base():
    for name in errors.__all__:
        kind = getattr(errors, name)
        if name.endswith("Error"):
            assert issubclass(kind, errors.IsinglassError), name
        if name.endswith("Warning"):
            assert issubclass(kind, errors.IsinglassWarning), name
    for kind in (errors.DataError, errors.LimitError, errors.SeparationError):
        assert issubclass(kind, ValueError)
    for kind in (errors.CellTypeError, errors.ArgumentError):
        assert issubclass(kind, TypeError)
    assert issubclass(errors.IsinglassWarning, UserWarning)


def test_a_message_can_be_part_of_another():
    inner = errors.ArgumentError("tol", "must be positive", 0, f"Leave {errors.setting('tol')} out.")
    outer = errors.DataError(f"regression 3: {inner.marked}")
    assert str(outer) == "regression 3: tol must be positive; got 0. Leave tol out."
    assert outer.spelled(lambda mention: mention.name.upper()) == (
        "regression 3: TOL must be positive; got 0. Leave TOL out."
    )


def test_a_warning_names_the_line_that_called_the_package():
    X = np.random.default_rng(0).integers(0, 2, (40, 4))
    X[:, 1] = 0
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ising_path(X, [0.1])
        Method(selector=StARS([0.1], n_subsamples=2)).choose(X)
        IsingLasso(alpha=0.1).fit(X)
        cross_val_score(IsingLasso(alpha=0.1), X, cv=2)  # through joblib
    kinds = [warning.category for warning in caught]
    constant = ConstantColumnWarning
    assert kinds == [constant, constant, FewColumnsWarning, GridEndWarning, constant, constant, constant]
    assert {warning.filename for warning in caught} == {__file__}


def test_suppressed_warnings_are_those_named_and_no_others():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with suppress_warnings(ConstantColumnWarning):
            warn(ConstantColumnWarning("constant"))
            with suppress_warnings(ConvergenceWarning):
                warn(ConvergenceWarning("stuck"))
                warn(ConstantColumnWarning("constant"))
            with pytest.raises(ConvergenceWarning):
                warn(ConvergenceWarning("stuck"))
            with pytest.raises(DataWarning):
                warn(DataWarning("other"))
        with pytest.raises(ConstantColumnWarning):
            warn(ConstantColumnWarning("constant"))


def test_suppressing_in_one_thread_leaves_the_others_and_the_filters_alone():
    before, inside, release = list(warnings.filters), threading.Barrier(2), threading.Event()

    def block():
        with suppress_warnings(ConstantColumnWarning):
            inside.wait(10)
            release.wait(10)

    thread = threading.Thread(target=block)
    thread.start()
    inside.wait(10)
    assert warnings.filters == before
    with pytest.warns(ConstantColumnWarning):
        warn(ConstantColumnWarning("heard"))
    release.set()
    thread.join()


def test_a_mention_may_hold_infinities():
    """Found by fuzzing: a cell that reads 1e999 and belongs to no value of ``encode``."""
    error = errors.DataError(f"Pass {setting('encode', {float('inf'): None, float('-inf'): 1})}.")
    assert str(error) == "Pass encode={inf: None, -inf: 1}."
    assert error.spelled(lambda mention: mention.name) == str(error)  # no option can hold them
    with pytest.raises(errors.DataError, match="inf"):
        read_table(io.BytesIO(b"01\n10\n1e999\n"), encode={0: 0, 1: 1}, delimiter=",")


@pytest.mark.parametrize("value", ["b(", "[" * 10_000, "f()", "x"])
def test_a_cell_that_looks_like_a_mention_is_shown(value):
    assert str(errors.DataError(f"got \x1fa\x1e{value}\x1ec\x1f.")) == "got c."


def test_a_large_argument_is_not_shown_whole():
    text = str(errors.ArgumentError("weights", "must be None", np.ones((40, 40)), "Leave them out."))
    assert text.startswith("weights must be None; got array([[1., 1., 1.")
    assert text.endswith(" …. Leave them out.")
    assert len(text) < 260
    assert "\n" not in text


def test_few_items_are_listed_and_the_others_counted():
    assert [listed("ab"), listed("abcdefg"), listed("abc", 1, noun=" letters")] == [
        "a, b",
        "a, b, c, d, e and 2 more",
        "a and 2 more letters",
    ]
