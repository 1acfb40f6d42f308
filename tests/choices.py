"""Shortcuts to what selectors choose: one call with the settings of selector, method and run side by side."""

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from isinglass import Path, as_table
from isinglass.select import EBIC, Choice, CrossValidation, Fixed, Method, PerNode, Run, Selector, StARS, TwoStage
from isinglass.select.task import Task


def _names(cls):
    return {field.name for field in fields(cls)}


def method_of(selector, options):
    """Return a method with this kind of selector, taking its settings out of the options."""
    chosen = {name: options.pop(name) for name in _names(selector) & options.keys()}
    estimated = {name: options.pop(name) for name in _names(Method) & options.keys()}
    return Method(selector=selector(**chosen), **estimated)


@dataclass(frozen=True, eq=False)
class FunctionTask(Task):
    """A task whose paths are made by a function of a table and alphas: what a test wants to see or to make up."""

    function: Any = None

    def path(self, alphas, **options):
        return self.function(self.table, alphas)


@dataclass(frozen=True, eq=False, repr=False)
class ByFunction(Selector):
    """A function of the cells of a table, its rows repeated as often as their weights say, that returns a solution."""

    name = "function"
    function: Any = None

    def choose(self, task):
        rows = np.repeat(np.arange(len(task.table)), task.table.unit_weight.astype(int))
        return Choice(Path((self.function(np.asarray(task.table)[rows]),)))


def choose(selector, X, *, sample_weight=None, groups=None, function=None, **options):
    """Return what a kind of selector chooses; a ``function`` of a table and alphas stands in for the paths."""
    method = method_of(selector, options)
    run = Run(**options)
    table = as_table(X, sample_weight)
    if function is not None:
        labels = None if groups is None else np.asarray(groups)
        return method.selector.choose(FunctionTask(table.counted(), groups=labels, run=run, function=function))
    return method.choose(table, groups=groups, run=run)


def two_stage(X, **options):
    return choose(TwoStage, X, **options)


def select_ebic(X, **options):
    return choose(EBIC, X, **options)


def cross_validate(X, **options):
    return choose(CrossValidation, X, **options)


def fixed(X, alpha, **options):
    return choose(Fixed, X, alpha=alpha, **options)


def stars(X, *, sample_weight=None, groups=None, paths=None, function=None, **options):
    """Return the stability alone, without the path of the whole table."""
    method = method_of(StARS, options)
    table = as_table(X, sample_weight).counted()
    task = Task(table, paths or method.paths, groups, run=Run(**options))
    if function is not None:
        task = FunctionTask(table, groups=groups, run=task.run, function=function)
    return method.selector.stability(task)


def isingfit(X, alphas=100, *, penalty_weights="standardized", **options):
    """Return the network of IsingFit: each node at the penalty with its smallest extended BIC."""
    options |= {"estimator": "nodewise", "alphas": alphas, "penalty_weights": penalty_weights}
    return choose(PerNode, X, **options).solution


def gain(found):
    """Return the cross-validated gain of the network that a two-stage choice took."""
    return float(found.stages[found.stage].held_out[found.index])
