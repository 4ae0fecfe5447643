"""Kinds of measurement: their models are the virtual laboratory's, their derivatives right."""

import dataclasses

import numpy as np
import pytest

from tests.plugins.lab.fitting.differences import difference_jacobian
from weft.base.curve import Curve
from weft.fabric.fabric import fabric
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.plugins.lab.fitting.cantilever import CantileverTest
from weft.plugins.lab.fitting.drape import CusickTest
from weft.plugins.lab.fitting.drape_equilibrium import DrapeContinuation, DrapeTester
from weft.plugins.lab.fitting.measurement import Measurement
from weft.plugins.lab.fitting.slopes import SlopeData, modulus_ratio, per_stiffness
from weft.plugins.lab.fitting.tensile import TensileTest, strip_force
from weft.plugins.lab.fitting.value import Value
from weft.plugins.lab.laboratory.cantilever import cantilever
from weft.plugins.lab.laboratory.shear import shear
from weft.plugins.lab.laboratory.tensile import tensile

PULLS = np.array([0.01, 0.03])
ANGLES = np.radians([1.0, 4.0, 8.0])
EVERY = (
    "density",
    "stretch_warp",
    "stretch_weft",
    "shear",
    "bending_warp",
    "bending_weft",
    "thickness",
)
LABELS = ("x", "y")
SIGMA = np.array([1.0, 2.0, 3.0])
KINDS = {
    "value": Value("a", "thickness", 4e-4, 1e-5),
    "tensile": TensileTest("a", "weft", PULLS, 3000 * PULLS, PULLS),
    "bias": TensileTest("a", "bias", PULLS, 80 * PULLS, PULLS),
    "shear": SlopeData("a", "shear", ANGLES, per_stiffness(ANGLES), ANGLES, SIGMA, False, LABELS),
    "hysteresis": SlopeData(
        "a", "shear", ANGLES, per_stiffness(ANGLES), ANGLES, SIGMA, True, LABELS
    ),
    "cantilever": CantileverTest("a", "warp", 0.02, 1e-3),
}


@pytest.mark.parametrize("name", KINDS)
def test_jacobian(name):
    """Against central differences, for all fields and any order of them."""
    kind, cloth = KINDS[name], fabric("cotton")
    assert isinstance(kind, Measurement)
    fields = EVERY[::-1]
    expected = difference_jacobian(kind, cloth, fields, 1e-3)
    got = kind.jacobian(cloth, fields)
    allowed = 2e-3 if name == "bias" else 1e-6  # its own small step is one-sided
    assert np.abs(got - expected).max() <= allowed * np.abs(expected).max()
    for k, field in enumerate(fields):
        assert (np.abs(got[:, k]).max() > 0) == (field in kind.depends_on)


@pytest.mark.parametrize("cut", ["warp", "weft"])
def test_a_strip_along_the_threads_is_the_closed_form(cut):
    cloth = fabric("denim")
    assert strip_force(cloth, cut, PULLS) == pytest.approx(
        tensile(cloth, cut, PULLS).force, rel=1e-6
    )
    curved = dataclasses.replace(
        cloth, **{f"curve_{cut}": Curve([(0.01, 20.0), (0.02, 90.0), (0.04, 300.0)])}
    )
    simulated = tensile(curved, cut, PULLS).force
    assert strip_force(curved, cut, PULLS) == pytest.approx(simulated, rel=1e-6)


def test_a_strip_on_the_bias_is_the_simulated_one():
    cloth = fabric("wool")
    strip = TensileTest("a", "bias", PULLS, PULLS, PULLS)
    assert strip.model(cloth) == pytest.approx(tensile(cloth, "bias", PULLS).force, rel=1e-4)
    short = dataclasses.replace(strip, length=0.1, width=0.05)
    assert (short.model(cloth) > 1.05 * strip.model(cloth)).all()  # jaws hold more of it


def test_a_frame_is_the_closed_form():
    cloth = fabric("linen")
    found = shear(cloth)
    assert cloth.shear * per_stiffness(np.radians(found.angle)) == pytest.approx(
        found.force, rel=1e-6
    )
    assert cloth.shear * modulus_ratio() == pytest.approx(found.modulus, rel=1e-6)


@pytest.mark.parametrize("way", ["warp", "weft"])
def test_a_cantilever_is_the_simulated_one(way):
    cloth = fabric("cotton")
    c = CantileverTest("a", way, 1.0, 1.0).model(cloth)
    assert cantilever(cloth, way).bending_length == pytest.approx(c, rel=3e-3)


def test_the_drape_is_followed_and_differentiated():
    """A coarse specimen, at rest to many digits: its slope is that of the followed equilibria, and
    it is not zero.
    """
    exact = QuasiStaticSettings(1e-8, 1e-9, max_iterations=3000)
    tester = dataclasses.replace(DrapeTester.of(15e-3), settings=exact)
    cloth, first = fabric("denim"), CusickTest("a", 0.7, 0.02, DrapeContinuation(tester, 1))
    test = first.near(cloth)
    assert test.sigma == pytest.approx(np.hypot(0.02, test.scatter)) and test.scatter > 0
    slopes = test.jacobian(cloth, test.depends_on)[0] * test.sigma
    expected = difference_jacobian(test, cloth, test.depends_on, 1e-3)[0] * test.sigma
    assert slopes == pytest.approx(expected, abs=2e-4)
    assert slopes[0] < -0.05 < 0.02 < slopes[4]  # weight pulls it down, rigidity holds it up
    # All forces alike: only ratios count.
    assert slopes.sum() == pytest.approx(0.0, abs=2e-4)
