import numpy as np
import pytest

from isinglass.errors import DataError
from isinglass.randomness import as_generator, spawn_seeds


def test_generators_of_all_kinds():
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
