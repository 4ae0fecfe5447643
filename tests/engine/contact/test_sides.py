"""Who meets whom: several cloths, thickness and friction by pair, pairs that ignore each other."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.engine.contact.builders import along
from tests.refusals import refused
from tests.stepping import nothing_crosses, stepped
from weft.base.errors import WeftError
from weft.bodies.motion.pins import Keyframe, Path
from weft.contact import Between, Friction, intersections, plate, sphere
from weft.contact.settings import SelfContact
from weft.scene.build import load_scene
from weft.scene.membrane_law import membrane_law
from weft.scene.prepare import prepare
from weft.scene.scene import Scene

LOWER = weft.sheet(9, 9, 0.3, 0.3, fabric="felt")
UPPER = weft.sheet(7, 7, 0.2, 0.2, fabric="silk")


def two(height=0.012, thickness=None):
    upper = UPPER.move((0.01, height, 0.007), (0, 30, 0))
    return weft.join([LOWER, upper], ("lower", "upper"), thickness)


def test_thickness_of_pairs():
    """A pair keeps the mean of both: cloth with cloth, with itself, with a body."""
    cloth = two(thickness=(2e-3, 4e-3))
    ball = dataclasses.replace(sphere(0.1, 0.05).move((0, -0.2, 0)), thickness=8e-3)
    model = prepare(Scene(cloth, bodies=[ball], contact=SelfContact(2e-3))).model
    n, b = 81, cloth.n_vertices
    stencil = np.array([[0, n, n + 1, n + 2], [0, 1, 2, 3], [0, 1, n, n + 1], [n, n + 1, b, b + 1]])
    found = model.contact.mesh.sides.thickness_of(stencil, np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(found, [3e-3, 2e-3, 3e-3, 6e-3])


@pytest.mark.parametrize("integrator", ["backward_euler", "bdf2"])
def test_cloth_rests_at_its_thickness(integrator):
    """Two cloths on a table of another thickness each: none comes nearer than its pair keeps."""
    cloth = two(0.02, thickness=(1e-3, 5e-3)).move((0, 6e-3, 0))
    contact = SelfContact(2e-3, thickness=3e-3)
    scene = Scene(cloth, bodies=[plate(1.0, 1.0)], contact=contact, integrator=integrator)
    _, state, _ = stepped(scene, 20, 0.01, nothing_crosses)
    low, high = state.x[:81, 1], state.x[81:, 1]
    assert low.min() > 2e-3 and low.max() < 4.5e-3  # (1 + 3)/2
    assert high.min() > 2e-3 + 3e-3  # and (1 + 5)/2 above


def test_friction_by_pair():
    """Two strips on a table that moves aside: the one with friction comes along."""
    aside = along(0.4, 0, 0, seconds=1.0, between="smooth")
    table = plate(2.0, 2.0, name="table").move((0, 0, 0), aside)
    one = weft.sheet(5, 5, 0.1, 0.1)
    strips = [one.move((0.01, 3e-3, z), (0, 20, 0)) for z in (0.2, -0.2)]
    cloth = weft.join(strips, ["rough", "slick"])
    contact = SelfContact(4e-3, pairs=[Between(("rough", "table"), Friction(0.7, 0.6))])
    scene = Scene(cloth, bodies=[table], contact=contact, damping=0.0)
    _, state, reports = stepped(scene, 40, 0.0125, nothing_crosses)
    moved = (state.x - cloth.vertices)[:, 0]
    there = float(aside.positions(np.zeros((1, 3)), 0.5)[0, 0])
    assert moved[:25].mean() == pytest.approx(there, rel=0.05)
    assert abs(moved[25:].mean()) < 1.5e-2
    assert sum(r.contact["friction_work"] for r in reports) > 0


def test_pairs_that_ignore_each_other():
    """A sheet falls through a table that it ignores, and not through the one it does not."""
    cloth = two(0.03).move((0, 0.01, 0))
    table = plate(1.0, 1.0, name="table")
    pairs = [Between(("upper", name), ignore=True) for name in ("table", "lower")]
    scene = Scene(cloth, bodies=[table], contact=SelfContact(4e-3, pairs=pairs))
    _, state, _ = stepped(scene, 15, 0.01, nothing_crosses)
    assert state.x[81:, 1].max() < -0.05 and state.x[:81, 1].min() > 0
    assert len(intersections(state.x, cloth.faces)) == 0  # it has passed


def test_a_pinch_is_reported_and_passed_thinner():
    """Two pads that leave half the thickness: it goes on thinner, and thick again after."""
    cloth = weft.sheet(9, 9, 0.2, 0.2, fabric="felt").move((0, 6e-3, 0))
    keys = [Keyframe(0.0), Keyframe(0.1, (0, -0.013, 0)), Keyframe(0.2), Keyframe(0.3)]
    press = plate(0.1, 0.1).move((0, 0.018, 0), Path(keys, "linear", hold=True))
    contact = SelfContact(4e-3, thickness=4e-3, pinch="thin")
    scene = Scene(cloth, bodies=[plate(0.5, 0.5), press], contact=contact)
    _, _, reports = stepped(scene, 60, 0.005, nothing_crosses)
    pinched = [r.contact["pinched"] for r in reports if "pinched" in r.contact]
    assert 0 < len(pinched) < 50
    assert 0.2 < min(p["part"] for p in pinched) < 0.8
    assert np.abs(pinched[0]["place"]).max() < 0.2
    assert "pinched" not in reports[-1].contact  # as thick as before


FILE = """\
cloths:
  - {name: shirt, sheet: {nx: 7, ny: 7, width: 20 cm, height: 20 cm}, fabric: silk,
     translation: [0, 2 cm, 0], thickness: fabric}
  - {name: coat, sheet: {nx: 7, ny: 7, width: 20 cm, height: 20 cm}, fabric: felt,
     translation: [0, 4 cm, 0], thickness: 2 mm}
law: {name: stvk}
contact:
  gap: 4 mm
  friction: {static: 0.4, kinetic: 0.3}
  lags: 2
  pairs:
    - {between: [shirt, coat], friction: 0.1}
    - {between: [coat top, table], ignore: true}
bodies: [{name: table, box: {width: 1 m, height: 1 cm, depth: 1 m}, thickness: 1 mm}]
pins: [{cloth: coat, corners: top}]
"""


def test_scene_files(tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_text(FILE)
    scene = load_scene(path).scene
    who = prepare(scene).model.contact.mesh.sides
    assert list(who.names) == ["shirt", "coat", "table"]
    np.testing.assert_allclose(who.static, [[0.4, 0.1, 0.4], [0.1, 0.4, 0.4], [0.4, 0.4, 0.4]])
    np.testing.assert_allclose(who.kinetic[0], [0.3, 0.1, 0.3])
    silk = scene.cloth.parts[0].fabric.thickness
    np.testing.assert_allclose(np.unique(who.thickness), sorted({silk, 2e-3, 1e-3}))
    assert len(who.apart) == 1 and scene.pins[0].vertices.min() >= 49
    assert {type(membrane_law(scene, f)).__name__ for f in scene.cloth.fabrics} == {"StVK"}


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("cloth: coat, ", "", "pins.0.cloth"),
        ("[shirt, coat]", "[shirt, cote]", ("contact.pairs", "'cote'")),
        ("kinetic: 0.3", "kinetic: 0.5", ("contact.friction.kinetic", "0.4")),
    ],
)
def test_refused_in_a_file(tmp_path, old, new, said):
    (tmp_path / "scene.yaml").write_text(FILE.replace(old, new))
    with refused(WeftError, said):
        load_scene(tmp_path / "scene.yaml")
