"""Cantilever, tensile and shear tests against closed forms."""

import dataclasses

import numpy as np
import pytest

from tests.refusals import refused
from weft.base.errors import WeftError
from weft.fabric.fabric import fabric
from weft.plugins.lab.laboratory.cantilever import cantilever
from weft.plugins.lab.laboratory.elastica import PLANE
from weft.plugins.lab.laboratory.loop import AT, SLOPE, bending_loop
from weft.plugins.lab.laboratory.shear import shear
from weft.plugins.lab.laboratory.tensile import LENGTH, WIDTH, tensile
from weft.plugins.lab.validate import bias
from weft.plugins.lab.validate.bias import axial_force, lateral_stretch

COTTON, TWILL = fabric("cotton"), fabric("stretch-twill")


@pytest.mark.parametrize("cloth", [COTTON, TWILL, fabric("jersey")], ids=lambda f: f.name)
@pytest.mark.parametrize("direction", ["warp", "weft"])
def test_rigidity_is_recovered(cloth, direction):
    """To 1 %, where the rigidities differ by 3.8 : 1, too; the standard's own is 0.05 % more."""
    found = cantilever(cloth, direction)
    given = cloth.bending_warp if direction == "warp" else cloth.bending_weft
    assert found.given == given
    assert found.exact == pytest.approx(given, rel=1e-2)
    assert found.rigidity / found.exact == pytest.approx(1.00052, abs=1e-5)
    reach, height = found.profile[-1]
    assert np.arctan2(-height, reach) == pytest.approx(PLANE, abs=2e-3)


def test_the_bias_is_that_of_the_certificate(monkeypatch):
    """Long strips give 2 l1 ks I6; jaws that do not let a strip of 4 : 1 narrow add some, and its
    middle, which has to give what the ends do not, narrows more.
    """
    cloth = dataclasses.replace(COTTON, stretch_warp=4000.0, stretch_weft=4000.0)
    monkeypatch.setattr(bias, "STRETCH", 4000.0)
    monkeypatch.setattr(bias, "SHEAR", cloth.shear)
    found = tensile(cloth, "bias", (0.02, 0.05))
    free = [axial_force(1 + e, lateral_stretch(1 + e)) for e in found.strain]
    ratio = found.force / free
    assert (ratio > 1.0).all() and (ratio < 1.25).all()
    narrow = [1 - lateral_stretch(1 + e) for e in found.strain]
    more = found.narrowing / narrow
    assert (more > 1.0).all() and (more < LENGTH / (LENGTH - WIDTH)).all()


def test_frame():
    found = shear(COTTON)
    gamma = np.radians(found.angle)
    np.testing.assert_allclose(found.force, COTTON.shear * np.sin(2 * gamma) / 2, rtol=1e-6)
    assert found.modulus == pytest.approx(COTTON.shear, rel=5e-3)
    assert found.kawabata == pytest.approx(found.modulus / 56.1876, rel=1e-5)
    rubs = shear(dataclasses.replace(COTTON, shear_hysteresis=1.5))
    assert rubs.hysteresis == pytest.approx(1.5, rel=1e-3)
    assert rubs.modulus == pytest.approx(COTTON.shear, rel=5e-3)


@pytest.mark.parametrize("direction", ["warp", "weft"])
def test_pure_bending_gives_both_numbers_back(direction):
    """B and 2HB of a fabric whose warp differs from its weft."""
    other = {"bending_hysteresis_warp": 3e-4, "bending_hysteresis_weft": 8e-4}
    cloth = dataclasses.replace(COTTON, **other)
    loop = bending_loop(cloth, direction)
    assert loop.slope(*SLOPE) == pytest.approx(getattr(cloth, f"bending_{direction}"), rel=0.03)
    assert loop.width(AT) == pytest.approx(other[f"bending_hysteresis_{direction}"], rel=0.03)


def test_a_cantilever_that_rubs_reaches_further():
    """2HB/2 holds the strip up as rigidity would."""
    cloth = dataclasses.replace(COTTON, bending_hysteresis_warp=4e-4)
    plain, rubs = (cantilever(c, "warp", segments=16) for c in (COTTON, cloth))
    assert 1.02 * plain.overhang < rubs.overhang < 1.5 * plain.overhang


LIMP = dataclasses.replace(COTTON, bending_warp=0.0)
FREE = dataclasses.replace(COTTON, shear=0.0)


@pytest.mark.parametrize(
    "test, arguments, what",
    [
        (cantilever, (LIMP, "warp"), "bending_warp of cotton"),
        (shear, (FREE,), "shear of cotton"),
        (tensile, (FREE, "bias"), "shear of cotton"),
        (tensile, (COTTON, "warp", ()), "strains"),
        (tensile, (COTTON, "warp", (0.02, 0.01)), "strains"),
        (tensile, (COTTON, "warp", (0.0, 0.01)), "strains"),
        (shear, (COTTON, ()), "angles"),
        (shear, (COTTON, (3.0, 2.0)), "angles"),
        (shear, (COTTON, (10.0, 80.0)), "angles"),
    ],
)
def test_what_cannot_be_tested(test, arguments, what):
    with refused(WeftError, what):
        test(*arguments)


def test_threads_that_turn_freely_are_pulled_straight():
    assert tensile(FREE, "warp", (0.01,)).force == pytest.approx(40.0)
