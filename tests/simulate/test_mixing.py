import numpy as np
import pytest

from isinglass.simulate.mixing import chain_statistics, diagnose


def statistics_of(draws):
    """Of one quantity, or of one for each entry of the last axis."""
    draws = np.asarray(draws)
    found = chain_statistics(draws.reshape(*draws.shape[:2], -1))
    return found if draws.ndim == 3 else [float(each[0]) for each in found]


def effective_sample_size(draws):
    return statistics_of(draws)[0]


def split_rhat(draws):
    return statistics_of(draws)[1]


def autoregression(phi, n_chains, n, seed):
    rng = np.random.default_rng(seed)
    draws = np.empty((n_chains, n))
    draws[:, 0] = rng.normal(size=n_chains)
    noise = rng.normal(scale=np.sqrt(1 - phi**2), size=(n_chains, n))
    for k in range(1, n):
        draws[:, k] = phi * draws[:, k - 1] + noise[:, k]
    return draws


@pytest.mark.parametrize("phi", [-0.3, 0.0, 0.5, 0.9])
def test_effective_sample_size_of_an_autoregression(phi):
    draws = autoregression(phi, 4, 20_000, seed=1)
    expected = draws.size * (1 - phi) / (1 + phi)
    assert effective_sample_size(draws) == pytest.approx(expected, rel=0.12)
    assert split_rhat(draws) < 1.01


def test_many_quantities_at_once_and_odd_lengths():
    draws = np.stack([autoregression(phi, 3, 301, seed=2) for phi in np.linspace(0, 0.9, 130)], axis=2)
    sizes, rhats = effective_sample_size(draws), split_rhat(draws)
    assert sizes.shape == rhats.shape == (130,)
    for k in (0, 63, 64, 129):
        assert sizes[k] == pytest.approx(float(effective_sample_size(draws[:, :, k])), rel=1e-9)
        assert rhats[k] == pytest.approx(float(split_rhat(draws[:, :, k])), rel=1e-12)


def test_split_rhat_by_hand():
    # Halves (0, 2), (1, 3), (4, 6), (5, 7): means 1, 2, 5, 6, each variance 2.
    within, between = 2.0, np.var([1, 2, 5, 6], ddof=1)
    assert split_rhat([[0, 2, 1, 3], [4, 6, 5, 7]]) == pytest.approx(np.sqrt((within / 2 + between) / within))


def test_constant_and_stuck_chains():
    same, apart = np.zeros((2, 10)), np.repeat([[0], [1]], 10, axis=1)
    assert np.isnan(split_rhat(same))
    assert np.isnan(effective_sample_size(same))
    assert split_rhat(apart) == np.inf
    assert effective_sample_size(apart) < 3


def test_diagnostics_gather_nodes_and_energy():
    rng = np.random.default_rng(0)
    states, energies = rng.integers(0, 2, (4, 500, 3), dtype=np.uint8), rng.normal(size=(4, 500))
    found = diagnose(states, energies)
    np.testing.assert_array_equal(found.ess, effective_sample_size(states))
    np.testing.assert_array_equal(found.rhat, split_rhat(states))
    assert found.energy_ess == effective_sample_size(energies)
    assert found.energy_rhat == split_rhat(energies)
    assert found.smallest_ess == min(*found.ess, found.energy_ess)
    assert found.largest_rhat == max(*found.rhat, found.energy_rhat)
    assert found.mixed
    assert not diagnose(states[:, :8], energies[:, :8]).mixed  # 32 rows for 4 chains
    energies[0] += 10.0
    assert not diagnose(states, energies).mixed
