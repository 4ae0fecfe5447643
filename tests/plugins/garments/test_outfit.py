"""What garments add to a cloth: folds at their angle, stiff seams, parts by name."""

import numpy as np
import pytest

from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.loads.gravity import Gravity
from weft.energies.loads.settling_drag import FROZEN
from weft.energies.seams.sewing import Sewing
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern
from weft.plugins.garments.scene.outfit import Outfit

FOLDED = """
fabric: cotton
panels:
  sheet:
    grain: 0 deg
    outline: [[-10 cm, 0], [10 cm, 0], [10 cm, 20 cm], [-10 cm, 20 cm]]
    folds: [{points: [[0, 0], [0, 20 cm]], angle: 60 deg}]
"""
TWO = """
fabric: cotton
panels:
  left: {outline: [[-10 cm, 0], {at: [0, 0], edge: in}, [0, 20 cm], [-10 cm, 20 cm]]}
  right:
    outline: [[0, 0], [10 cm, 0], [10 cm, 20 cm], {at: [0, 20 cm], edge: in}]
seams:
  middle: {join: [left.in, right.in], angle: 60 deg, flip: true}
"""


def bent(x, angle):
    """A sheet in the plane z = 0 folded along x = 0: both wings turn down for a mountain."""
    y = np.array(x)
    wing = np.abs(y[:, 0])
    y[:, 0] = np.sign(y[:, 0]) * wing * np.cos(angle / 2)
    y[:, 2] = -wing * np.sin(angle / 2)
    return y


@pytest.mark.parametrize("text", [FOLDED, TWO])
def test_a_positive_angle_is_a_mountain_seen_from_the_right_side(text):
    """Of all bends, the one at the angle costs least: with what keeps the fabric flat there."""
    outfit = Outfit.of([("it", cut(parse_yaml_pattern(text), 0.04), None)])
    energies = outfit.energies(Sewing())
    fold = next(e for e in energies if e.name in ("folds", "seams"))
    fabric = outfit.cloth.fabric
    flat = HingeBending.of(outfit.cloth.mesh, (fabric.bending_warp, fabric.bending_weft))
    x = np.array(outfit.cloth.vertices)
    angles = np.radians(np.arange(-90, 91, 5.0))
    cost = [fold.value(bent(x, a)).sum() + flat.value(bent(x, a)).sum() for a in angles]
    assert np.degrees(angles[int(np.argmin(cost))]) == pytest.approx(60)


def test_a_pressed_fold_is_stiffer_than_the_fabric():
    outfit = Outfit.of([("it", cut(parse_yaml_pattern(FOLDED), 0.04), None)])
    fold = next(e for e in outfit.energies(Sewing()) if e.name == "folds")
    fabric = outfit.cloth.fabric
    flat = HingeBending.of(outfit.cloth.mesh, (fabric.bending_warp, fabric.bending_weft))
    x = np.array(outfit.cloth.vertices)

    def cost(angle):
        return fold.value(bent(x, angle)).sum() + flat.value(bent(x, angle)).sum()

    at, h = np.radians(60), 1e-3
    stiffness = (cost(at + h) - 2 * cost(at) + cost(at - h)) / h**2
    plain = (flat.value(bent(x, h)).sum() + flat.value(bent(x, -h)).sum()) / h**2
    assert stiffness / plain == pytest.approx(10, rel=0.02)


def test_fabrics_that_are_equal_are_one():
    outfit = Outfit.of([("it", cut(parse_yaml_pattern(TWO), 0.05), None)])
    assert [p.name for p in outfit.cloth.parts] == ["left", "right"]
    assert len(outfit.cloth.fabrics) == 1
    assert [name for name, _ in outfit.cloth.seams] == ["middle"]


def test_outer_layers_are_sewn_once_inner_ones_have_settled():
    """A garment of layer 1 waits, without weight, until that of layer 0 is sewn and at rest."""
    over = TWO.replace("left: {", "left: {layer: 1, ").replace("right:\n", "right:\n    layer: 1\n")
    inner, outer = (cut(parse_yaml_pattern(text), 0.05) for text in (TWO, over))
    outfit = Outfit.of([("jacket", outer, None), ("shirt", inner, None)])
    sewing = Sewing(closing=1.0, settle=0.5, onset=0.2)
    assert (outfit.turns, outfit.until(sewing)) == ([1, 0], 3.0)
    n = outer.mesh.n_vertices
    weighs = outfit.weighs_from(sewing)
    assert np.allclose(weighs[:n], [2.5, 2.7])
    assert np.allclose(weighs[n:], [1.0, 1.2])
    weight = Gravity(outfit.cloth.mass, onset=weighs)
    acts = weight.part(1.1)
    assert np.allclose(acts[n:], 0.5)
    assert np.allclose(acts[:n], 0.0)
    energies = {e.name: e for e in outfit.energies(sewing)}
    sewn = energies["sewing"]
    assert np.array_equal(sewn.acting(1.4), (sewn.pairs >= n).all(axis=1))
    assert sewn.acting(1.6).all()
    assert (energies["seams"].begin, energies["seams 2"].begin) == (1.0, 2.5)
    assert energies["drag"].until == 3.0
    held = energies["drag"].rates
    assert (held(1.4) == sewing.drag).all()
    assert np.array_equal(held(2.0) == FROZEN, np.arange(len(outfit.cloth.mass)) >= n)
    assert (held(2.6) == sewing.drag).all()
