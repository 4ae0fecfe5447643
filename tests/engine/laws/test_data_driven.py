"""Tables of ARCSim as an energy, beside the interpolation and stress of ARCSim restated in NumPy.

The tables are invented; those of Wang, O'Brien & Ramamoorthi (2011) are not part of weft.
"""

import numpy as np
import pytest
from scipy.linalg import sqrtm
from scipy.optimize import root

from tests.checks import derivative_error
from tests.refusals import refused
from weft.base.errors import LawError
from weft.laws import DataDriven, Psd

pytestmark = pytest.mark.quick

TWILL = np.array(
    [
        [600, 60, 420, 25],
        [1500, 150, 520, 40],
        [1300, 170, 600, 60],
        [900, 220, 800, 90],
        [700, 160, 1000, 60],
        [640, 140, 1150, 45],
    ]
)
# As of a knit: limp at first, and with numbers below 0, which count as 0.
KNIT = np.array(
    [
        [20, -10, 40, 30],
        [60, 50, 200, -20],
        [70, 80, 210, 20],
        [110, 100, 300, 50],
        [130, 80, 380, -60],
        [120, 90, 400, 30],
    ]
)
SERIES = np.arange(5)


def stiffness(G, rows, straight=True):
    """k11, k12, k22, k33 of ARCSim at Green's strain G; the direction by straight lines, or by the
    cosine series of the law.
    """
    values, vectors = np.linalg.eigh(2 * G + np.eye(2))
    angle = np.arctan2(abs(vectors[1, 1]), abs(vectors[0, 1]))
    progress = np.clip(6 * (np.sqrt(max(values[1], 0.0)) - 1), 0, 1)
    if straight:
        knots = np.radians([0, 22.5, 45, 67.5, 90])
        strained = np.array([np.interp(angle, knots, c) for c in rows[1:].T])
    else:
        waves = np.linalg.solve(np.cos(np.pi / 4 * np.outer(SERIES, SERIES)), rows[1:])
        strained = np.cos(2 * SERIES * angle) @ waves
    return 2 * np.maximum(rows[0] + progress * (strained - rows[0]), 0)


def stress(G, k):
    """Second Piola-Kirchhoff stress of ARCSim's forces."""
    warp, weft = k[0] * G[0, 0] + k[1] * G[1, 1], k[2] * G[1, 1] + k[1] * G[0, 0]
    return np.array([[warp, k[3] * G[0, 1]], [k[3] * G[0, 1], weft]])


def stress_of(law, G):
    """The same of a law."""
    U = np.real(sqrtm(2 * G + np.eye(2)))
    F = np.zeros((1, 3, 2))
    F[0, :2] = U
    return np.linalg.solve(U, law.stress(F)[0, :2])


def strain(angle, *numbers):
    """Green's strain with (along, across, shear) in a frame turned by an angle [degrees]."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    along, across, shear = numbers
    R = np.array([[c, -s], [s, c]])
    return R @ np.array([[along, shear], [shear, across]]) @ R.T


def pull(stress_at, angle, stretch):
    """Force per width of a strip that is free to narrow and to shear, and its strain across."""
    e = stretch + stretch**2 / 2

    def across(x):
        turned = turn(stress_at(strain(angle, e, *x)), angle)
        return turned[1, 1], turned[0, 1]

    found = root(across, (-0.3 * e, 0.0))
    assert found.success
    return (1 + stretch) * turn(stress_at(strain(angle, e, *found.x)), angle)[0, 0], found.x[0]


def turn(S, angle):
    """A tensor in the frame turned by an angle [degrees]."""
    c, s = np.cos(np.radians(angle)), np.sin(np.radians(angle))
    R = np.array([[c, -s], [s, c]])
    return R.T @ S @ R


@pytest.mark.parametrize("rows", [TWILL, KNIT], ids=["twill", "knit"])
@pytest.mark.parametrize("angle", [0, 22.5, 45, 67.5, 90])
def test_pull_without_narrowing_is_that_of_arcsim(rows, angle):
    """In the directions of the table, below and beyond its strain."""
    law = DataDriven(2 * rows)
    for stretch in (0.003, 0.03, 0.1, 0.3):
        G = strain(angle, stretch + stretch**2 / 2, 0, 0)
        own = turn(stress_of(law, G), angle)[0, 0]
        assert own == pytest.approx(turn(stress(G, stiffness(G, rows)), angle)[0, 0], rel=1e-5)


@pytest.mark.parametrize(
    "rows, angle, off", [(TWILL, 0, 0.01), (TWILL, 45, 0.01), (TWILL, 22.5, 0.04), (KNIT, 0, 0.02)]
)
def test_free_pull_is_nearly_that_of_arcsim(rows, angle, off):
    """docs/explanations/arcsim.md has the table."""
    law = DataDriven(2 * rows)
    for stretch in (0.01, 0.05, 0.15):
        wanted, narrow = pull(lambda G: stress(G, stiffness(G, rows)), angle, stretch)
        own, across = pull(lambda G: stress_of(law, G), angle, stretch)
        assert own == pytest.approx(wanted, rel=off)
        assert across == pytest.approx(narrow, abs=0.1 * stretch)


@pytest.mark.parametrize("rows", [TWILL, KNIT], ids=["twill", "knit"])
@pytest.mark.parametrize(
    "u, v, w", [(1, 1, 0), (1.05, 0.97, 0), (1.08, 1.08, 0), (0.9, 0.9, 0), (1.02, 1.02, 0.1)]
)
def test_energy_is_smooth_where_directions_are_ambiguous(rows, u, v, w, rng):
    """At rest, where the pull is along a thread, equal in all directions, and where it begins."""
    law = DataDriven(2 * rows)
    F, d = np.array([[u, w], [0, v], [0, 0]]), rng.normal(size=(3, 2))
    slope, scale = (law.stress(F[None])[0] * d).sum(), np.abs(law.hessian(F[None])).max()
    # The Hessian may jump, so that errors fall with the step alone.
    error, _ = derivative_error(lambda F: law.energy(F[None])[0], slope, F, d, scale)
    assert error < 1e-6
    steps = law.stress(F + 1e-7 * d * np.array([-1, 0, 1])[:, None, None])
    assert np.abs(np.diff(steps, axis=0)).max() < 1e-4 * scale  # no jump


def test_nothing_is_projected_where_cloth_is_stretched_both_ways():
    law, F = DataDriven(TWILL), np.array([[[1.05, 0.01], [0.0, 1.08], [0.02, 0.0]]])
    np.testing.assert_allclose(law.hessian(F, Psd.PROJECTED), law.hessian(F, Psd.EXACT), rtol=1e-9)


@pytest.mark.parametrize("column", [0, 2])
def test_a_table_without_stiffness_at_rest_is_refused(column):
    rows = np.array(TWILL, dtype=float)
    rows[0, column] = 0.0
    with refused(LawError, "rows[0]", expected="k11 and k22 > 0 at rest"):
        DataDriven(rows)
