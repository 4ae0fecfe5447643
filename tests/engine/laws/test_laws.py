"""Every membrane law, by being listed once."""

from itertools import product

import numpy as np
import pytest

from tests.checks import assert_derivative, rotations
from tests.refusals import refused
from weft.base.curve import Curve
from weft.base.errors import FabricError, LawError
from weft.laws import (
    AngleShear,
    Arap,
    BaraffWitkin,
    DataDriven,
    DotShear,
    ImmediateBuckling,
    Measured,
    NeoHookean,
    Psd,
    StrainLimit,
    StVK,
    StvkShear,
    StvkStretch,
)

pytestmark = pytest.mark.quick

CURVE = [(0.11, 30.0), (0.32, 180.0), (0.53, 400.0), (1.2, 1300.0)]
TABLE = [[600.0, 60.0, 420.0, 50.0]] * 4 + [[900.0, 90.0, 800.0, 80.0]] * 2
LAWS = {
    "baraff_witkin": BaraffWitkin((5000.0, 3000.0), 400.0, (1.0, 1.0)),
    "baraff_witkin_no_shear": BaraffWitkin((500.0, 800.0), 0.0),
    "baraff_witkin_prestretched": BaraffWitkin((500.0, 800.0), 90.0, (0.95, 1.1)),
    "dot_shear": DotShear(70.0),
    "dot_shear that slips": DotShear(70.0, 0.05),
    "angle_shear": AngleShear(70.0),
    "nearly parallel fibers": BaraffWitkin(
        (500.0, 800.0), 90.0, warp=(1.0, 0.0), weft=(np.cos(1e-4), np.sin(1e-4))
    ),
    "skewed": BaraffWitkin((500.0, 800.0), 90.0, (0.95, 1.1), warp=(0.8, 0.6), weft=(0.0, 1.0)),
    "arap": Arap(300.0),
    "stvk": StVK(200.0, 150.0),
    "neo_hookean": NeoHookean(200.0, 150.0),
    "stvk_stretch": StvkStretch((500.0, 300.0), (1.0, 0.9), warp=(0.8, 0.6), weft=(-0.6, 0.8)),
    "stvk_shear": StvkShear(90.0, warp=(1.0, 0.0), weft=(0.6, 0.8)),
    "immediate_buckling": ImmediateBuckling((500.0, 300.0), (80.0, 60.0), (0.97, 1.02)),
    "measured": Measured((CURVE, CURVE), 40.0, rest_stretch=(0.97, 1.02)),
    "data_driven": DataDriven(TABLE),
    "strain_limit": StrainLimit((9.0, 8.0), 1.57, (50.0, 30.0, 5.0), 0.001),
    "arap + dot_shear + stvk_shear": Arap(300.0) + DotShear(50.0) + StvkShear(20.0),
}
# Where the law has no Hessian, or no finite energy.
KINKS = {("data_driven", "rest"), ("strain_limit", "parallel fibers")}


def flat(a, b, c, d):
    return np.array([[a, b], [c, d], [0.0, 0.0]])


STATES = {
    "rest": flat(1, 0, 0, 1),
    "stretched": flat(1.2, 0.1, 0, 1.4),
    "compressed": flat(0.6, 0.05, 0.02, 0.5),
    "sheared": flat(1, 0.7, 0.1, 1),
    "inverted": flat(1, 0.1, 0.05, -0.9),
    "nearly degenerate": flat(1e-3, 1e-4, 0, 1),
    "parallel fibers": flat(1, 1, 0, 1e-3),
    "obtuse": flat(0.9, -0.6, 0, 0.8),
}


def turned(state):
    """The state in a generic position in space."""
    return rotations(1)[0] @ STATES[state]


@pytest.mark.parametrize("name, state", [c for c in product(LAWS, STATES) if c not in KINKS])
def test_stress_and_hessian_are_derivatives(name, state, rng):
    law, F = LAWS[name], turned(state)
    d = rng.normal(size=(3, 2)) * (0.05 if state == "nearly degenerate" else 1.0)
    P, H = law.stress(F[None])[0], law.hessian(F[None], Psd.EXACT)[0]
    scale = (1 + np.abs(H).max()) if state == "rest" else None
    assert_derivative(lambda F: law.energy(F[None])[0], (P * d).sum(), F, d, 1e-6, scale)
    dP = (H @ d.T.reshape(-1)).reshape(2, 3).T  # vec(F) is column-major: (f0, f1)
    scale = 1.0 if np.abs(H).max() < 1e-9 else None  # a fourth power at rest
    assert_derivative(lambda F: law.stress(F[None])[0], dP, F, d, 1e-6, scale)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_frame_indifference(law, rng):
    """psi(R F) = psi(F), P(R F) = R P(F), and H turns with both indices."""
    F = rng.normal(size=(20, 3, 2))
    R = rotations(20)
    RF = R @ F
    np.testing.assert_allclose(law.energy(RF), law.energy(F), rtol=1e-12)
    np.testing.assert_allclose(law.stress(RF), R @ law.stress(F), atol=1e-9)
    Q = np.zeros((20, 6, 6))
    Q[:, :3, :3] = Q[:, 3:, 3:] = R
    for psd in Psd:
        H = Q @ law.hessian(F, psd) @ Q.transpose(0, 2, 1)
        np.testing.assert_allclose(law.hessian(RF, psd), H, atol=1e-8)


@pytest.mark.parametrize("psd", [Psd.PROJECTED, Psd.GAUSS_NEWTON])
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_projected_hessians_are_positive_semi_definite(law, psd, rng):
    F = np.concatenate([rng.normal(size=(500, 3, 2)), [turned(s) for s in STATES]])
    H = law.hessian(F, psd)
    np.testing.assert_allclose(H, H.transpose(0, 2, 1), atol=1e-9)
    values = np.linalg.eigvalsh(H)
    assert values.min() >= -1e-12 * np.abs(values).max()


BAD = {
    "BaraffWitkin.stretch": lambda: BaraffWitkin((0.0, 1.0), 1.0),
    "BaraffWitkin.shear": lambda: BaraffWitkin((1.0, 1.0), -1.0),
    "BaraffWitkin.rest_stretch": lambda: BaraffWitkin((1.0, 1.0), 1.0, (0.0, 1.0)),
    "BaraffWitkin.warp": lambda: BaraffWitkin((1.0, 1.0), 1.0, warp=(1.0, 1.0)),
    "Measured.compression": lambda: Measured((CURVE, CURVE), 1.0, (0.0, 1.0)),
    "limit of warp stretch": lambda: StrainLimit((0.99, 1.1)),
    ("limit of weft stretch", 1.05, "1.1"): lambda: StrainLimit((None, 1.05), rest=(1.0, 1.1)),
    "StrainLimit.shear": lambda: StrainLimit(shear=1.6),
    ("curve", "20 N/m, then 10 N/m"): lambda: Curve([(0.1, 20.0), (0.2, 10.0)]),
    ("curve strains", "0.1, then 0.1"): lambda: Curve([(0.1, 20.0), (0.1, 30.0)]),
    "curve.points[0][1]": lambda: Curve([(0.1, np.nan)]),
    ("law.energy.F", "2, 3"): lambda: Arap(1.0).energy(np.zeros((2, 3))),
}


@pytest.mark.parametrize("said", BAD, ids=str)
def test_refused(said):
    with refused((LawError, FabricError), said):
        BAD[said]()
