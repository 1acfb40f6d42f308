"""Exceptions and warnings, so that callers can tell bad data from limits and from non-convergence."""


class DataError(ValueError):
    """The table, the weights or a parameter matrix is not what it must be."""


class CellTypeError(DataError, TypeError):
    """A cell of a table is neither a number nor text."""


class LimitError(ValueError):
    """The request is well formed but larger than the documented limit or than the memory."""


class SeparationError(ValueError):
    """An unpenalised optimum was asked for, but it lies at infinity."""


class ConvergenceWarning(UserWarning):
    """The certificate of a returned solution did not reach the tolerance."""


class ConstantColumnWarning(UserWarning):
    """A column takes one value only, so that no edge of it can be estimated."""


class MixingWarning(UserWarning):
    """A Markov chain moves so slowly that its rows do not represent the model yet."""


class GridEndWarning(UserWarning):
    """The choice sits at an end of the grid of alphas."""


class FewColumnsWarning(UserWarning):
    """A criterion was asked for that was made for many columns, and misses most edges among few."""
