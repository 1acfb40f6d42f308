"""Plain numbers and random states are accepted or named."""

import inspect

import numpy as np
import pytest
from choices import isingfit, stars, two_stage

import isinglass
from isinglass import bootstrap, compare_groups, ising_path
from isinglass.arguments import as_generator, check_count, check_positive, spawn_seeds
from isinglass.errors import DataError


@pytest.mark.parametrize("value", [1, np.int64(1), np.uint8(1)])
def test_counts(value):
    assert check_count("n", value) == 1


@pytest.mark.parametrize("value", [0, -1, 1.0, True, "1", None, float("nan")])
def test_what_is_no_count(value):
    with pytest.raises(DataError, match=r"n must be an integer of at least 1; got"):
        check_count("n", value)


def test_counts_have_a_largest_value():
    with pytest.raises(DataError, match=r"max_iter must be at most 2147483647; got 1000000000000000000"):
        ising_path([[0, 1], [1, 1]], max_iter=10**18)


@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (ising_path, {"alphas": 10**9}, "alphas"),
        (two_stage, {"alphas": 10**9}, "alphas"),
        (isingfit, {"alphas": 10**9}, "alphas"),
        (bootstrap, {"method": 0.1, "n_boot": 10**9}, "n_boot"),
        (stars, {"n_subsamples": 10**9}, "n_subsamples"),
        (compare_groups, {"groups": [0, 0, 1, 1], "n_permutations": 10**9}, "n_permutations"),
    ],
)
def test_counts_that_would_fill_the_memory_are_refused_before_it_is_taken(function, arguments, name):
    X = [[0, 1], [1, 1], [0, 0], [1, 0]]
    with pytest.raises(DataError, match=rf"{name} must be .*(at most|to) \d+.*; got 1000000000"):
        function(X, **arguments)


def test_counts_have_a_least_value():
    assert check_count("n_folds", 2, least=2) == 2
    with pytest.raises(DataError, match=r"n_folds must be an integer of at least 2; got 1"):
        check_count("n_folds", 1, least=2)


@pytest.mark.parametrize("value", [1, 1e-300, np.float32(0.5), np.int8(3)])
def test_positive_numbers(value):
    assert check_positive("tol", value) == float(value)


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), True, "1", None, [1.0]])
def test_what_is_not_positive(value):
    with pytest.raises(DataError, match=r"tol must be a positive number; got"):
        check_positive("tol", value)


def test_generators_of_all_kinds(unseeded_draws):
    first = as_generator(7).random()
    assert first == as_generator(np.int64(7)).random() == as_generator(np.random.SeedSequence(7)).random()
    given = np.random.default_rng(7)
    assert as_generator(given) is given
    legacy = np.random.RandomState(7)
    assert as_generator(legacy).random() != as_generator(legacy).random()
    assert as_generator(None).random() != as_generator(None).random()


@pytest.mark.parametrize("bad", ["seed", -1, 1.5, True, [1, 2], np.float64(3)])
def test_what_is_no_seed_is_refused(bad):
    with pytest.raises(DataError, match="random_state must be a non-negative integer"):
        as_generator(bad)


def test_seeds_are_not_the_children_of_a_given_sequence():
    root = np.random.SeedSequence(1)
    mine = {tuple(seed.generate_state(2)) for seed in spawn_seeds(root, 3)}
    assert mine == {tuple(seed.generate_state(2)) for seed in spawn_seeds(root, 3)}
    assert not mine & {tuple(seed.generate_state(2)) for seed in root.spawn(3)}


def test_seeds_differ_and_do_not_depend_on_their_number():
    states = [tuple(seed.generate_state(4)) for seed in spawn_seeds(3, 50)]
    assert len(set(states)) == 50
    assert [tuple(seed.generate_state(4)) for seed in spawn_seeds(3, 20)] == states[:20]


def test_only_draws_have_a_new_seed_in_every_call():
    modules = [isinglass, isinglass.simulate, isinglass.metrics, isinglass.exact, isinglass.layout, isinglass.plot]
    public = [getattr(module, name) for module in modules for name in module.__all__]
    asked = [one for one in public if inspect.isfunction(one)] + [isinglass.Fit.sample, isinglass.Fit.impute]
    seeds = {one.__name__: inspect.signature(one).parameters.get("random_state") for one in asked}
    defaults = {name: seed.default for name, seed in seeds.items() if seed is not None}
    assert set(defaults.values()) == {None, 0}
    draws = {"sample", "impute", "exact_sample", "gibbs_sample"}
    networks = {name for name in isinglass.simulate.__all__ if name.endswith("_network")}
    assert {name for name, default in defaults.items() if default is None} <= draws | networks
    assert {"bootstrap", "compare_groups", "gibbs_diagnostics"} <= defaults.keys()
