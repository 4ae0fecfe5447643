"""What garments add to a cloth: folds at their angle, stiff seams, parts by name."""

import numpy as np
import pytest

from tests.plugins.garments.builders import folded, garment_of, outfit_of
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.loads.gravity import Gravity
from weft.energies.loads.settling_drag import CLOSING, FROZEN
from weft.energies.seams.sewing import Sewing
from weft.plugins.garments.scene.outfit import Outfit

FOLDED = """
fabric: cotton
panels:
  sheet:
    grain: 0 deg
    outline: [[-10 cm, 0], [10 cm, 0], [10 cm, 20 cm], [-10 cm, 20 cm]]
    folds: [{points: [[0, 0], [0, 20 cm]], angle: 60 deg}]
"""
PLEAT = """
panels:
  front:
    outline: [[-20 cm, 0], [20 cm, 0], {at: [20 cm, 40 cm], edge: top}, [-20 cm, 40 cm]]
    pleats: [{edge: top, depth: 3 cm, length: 25 cm}]
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


def fold_of(text):
    """The flat sheet, a function of the angle that costs its fold and the fabric, and one of the
    fabric alone.
    """
    outfit = outfit_of(garment_of(text, 0.04))
    fold = next(e for e in outfit.energies(Sewing()) if e.name in ("folds", "seams"))
    fabric, x = outfit.cloth.fabric, np.array(outfit.cloth.vertices)
    flat = HingeBending.of(outfit.cloth.mesh, (fabric.bending_warp, fabric.bending_weft))

    def plain(angle):
        return flat.value(folded(x, angle)).sum()

    return lambda angle: fold.value(folded(x, angle)).sum() + plain(angle), plain


@pytest.mark.parametrize("text", [FOLDED, TWO])
def test_a_positive_angle_is_a_mountain_seen_from_the_right_side(text):
    """Of all bends, the one at the angle costs least: with what keeps the fabric flat there."""
    cost, _ = fold_of(text)
    angles = np.arange(-90, 91, 5)
    assert angles[np.argmin([cost(np.radians(a)) for a in angles])] == 60


def test_a_pressed_fold_is_stiffer_than_the_fabric():
    (cost, plain), at, h = fold_of(FOLDED), np.radians(60), 1e-3
    stiffness = (cost(at + h) - 2 * cost(at) + cost(at - h)) / h**2
    assert stiffness / ((plain(h) + plain(-h)) / h**2) == pytest.approx(10, rel=0.02)


def test_outer_layers_are_sewn_once_inner_ones_have_settled():
    """A garment of layer 1 waits, without weight, until that of layer 0 is sewn and at rest."""
    over = TWO.replace("left: {", "left: {layer: 1, ").replace("right:\n", "right:\n    layer: 1\n")
    inner, outer = garment_of(TWO), garment_of(over)
    outfit = Outfit.of([("jacket", outer, None), ("shirt", inner, None)])
    sewing = Sewing(closing=1.0, settle=0.5, onset=0.2)
    assert (outfit.turns, outfit.until(sewing)) == ([1, 0], 3.0)
    n, weighs = outer.mesh.n_vertices, outfit.weighs_from(sewing)
    waits = np.arange(len(weighs)) < n
    np.testing.assert_allclose(weighs, np.where(waits[:, None], [2.5, 2.7], [1.0, 1.2]))
    weight = Gravity(outfit.cloth.mass, onset=weighs)
    np.testing.assert_allclose(weight.part(1.1), np.where(waits, 0.0, 0.5))
    energies = {e.name: e for e in outfit.energies(sewing)}
    sewn, drag = energies["sewing"], energies["drag"]
    assert np.array_equal(sewn.acting(1.4), (sewn.pairs >= n).all(axis=1))
    assert sewn.acting(1.6).all()
    assert (energies["seams"].begin, energies["seams 2"].begin, drag.until) == (1.0, 2.5, 3.0)
    assert np.array_equal(drag.rates(2.0) == FROZEN, ~waits)
    for t in (1.4, 2.6):
        assert (drag.rates(t) == sewing.drag).all()
    np.testing.assert_allclose(drag.rates(0.5), sewing.drag * np.where(waits, 1.0, CLOSING))
    np.testing.assert_allclose(drag.rates(2.0)[waits], sewing.drag * CLOSING)


def test_a_cloth_knows_the_edges_along_the_folds_of_all_garments():
    """Pictures show them sharp. Both folds of a pleat of 3 cm, at its end and its middle."""
    garments = [(name, garment_of(PLEAT, 0.04), None) for name in ("one", "two")]
    cloth = Outfit.of(garments).cloth
    for name in ("one", "two"):
        part = cloth.part(f"{name} front")
        edges = cloth.fold_edges[np.isin(cloth.fold_edges[:, 0], part.vertices)]
        place = np.array(cloth.vertices)[edges]
        assert np.linalg.norm(place[:, 0] - place[:, 1], axis=1).sum() == pytest.approx(0.5)
        assert np.ptp(place[..., 0], axis=1).max() < 1e-9
        assert np.ptp(place[..., 0]) == pytest.approx(0.03)
