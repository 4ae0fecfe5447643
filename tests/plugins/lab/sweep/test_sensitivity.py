"""Sobol indices against closed forms."""

import numpy as np
import pytest
import scipy.stats

from tests.plugins.lab.sweep.conftest import varied
from weft.plugins.lab.sweep.design import Design
from weft.plugins.lab.sweep.sensitivity import sobol_indices

A, B = 7.0, 0.1


def ishigami(x):
    """Ishigami & Homma 1990, of x in [-pi, pi]^3."""
    return np.sin(x[..., 0]) + A * np.sin(x[..., 1]) ** 2 + B * x[..., 2] ** 4 * np.sin(x[..., 0])


def exact():
    """First and total indices (Saltelli et al. 2008, section 4.9)."""
    v1, v2 = 0.5 * (1 + B * np.pi**4 / 5) ** 2, A**2 / 8
    v13 = B**2 * np.pi**8 * (1 / 18 - 1 / 50)
    v = v1 + v2 + v13
    return np.array([v1, v2, 0]) / v, np.array([v1 + v13, v2, v13]) / v


def points(n, seed=0):
    fields = {k: varied(k, {"from": -np.pi, "to": np.pi}) for k in "abc"}
    rows = list(Design("saltelli", fields, n, seed).rows())
    return np.array([list(r.values()) for r in rows]).reshape(n, 5, 3)


def test_ishigami():
    first, total = sobol_indices(ishigami(points(4096)))
    np.testing.assert_allclose(first, exact()[0], atol=0.02)
    np.testing.assert_allclose(total, exact()[1], atol=0.02)


def test_they_are_those_of_scipy():
    f = ishigami(points(256)) + 40.0
    columns = {"f_A": f[None, :, 0], "f_B": f[None, :, 1], "f_AB": f.T[2:, None]}
    theirs = scipy.stats.sobol_indices(func=columns, n=len(f))
    first, total = sobol_indices(f)
    np.testing.assert_allclose(first, theirs.first_order, atol=1e-12)
    np.testing.assert_allclose(total, theirs.total_order, atol=1e-12)


def test_they_converge():
    def error(n):
        found = [sobol_indices(ishigami(points(n, s))) for s in range(6)]
        return np.mean([np.abs(np.array(f) - exact()).max() for f in found])

    assert error(2048) < 0.4 * error(128)


def test_an_offset_changes_nothing():
    f = ishigami(points(256))
    np.testing.assert_allclose(sobol_indices(f + 1e6), sobol_indices(f), atol=1e-7)


def test_a_sum_has_no_interactions():
    """f = a + 2 b: S = ST = 1/5, 4/5, 0."""
    f = points(1024) @ [1.0, 2.0, 0.0]
    first, total = sobol_indices(f)
    np.testing.assert_allclose(first, [0.2, 0.8, 0.0], atol=0.01)
    np.testing.assert_allclose(total, [0.2, 0.8, 0.0], atol=0.01)
    assert total[2] == pytest.approx(0, abs=1e-25)
