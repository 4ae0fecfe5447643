"""Who meets whom: several cloths, thickness and friction by pair, pairs that ignore each other."""

import dataclasses

import numpy as np
import pytest

import weft
from tests.checks import touching
from tests.refusals import refused
from tests.stepping import nothing_crosses, stepped
from weft import kernel
from weft.base.errors import SceneError, WeftError
from weft.bodies.motion.pins import Keyframe, Path
from weft.contact import Between, Friction, intersections, plate, sphere
from weft.contact.settings import SelfContact
from weft.integrators.assembly import sum_energies
from weft.kernel import vec3
from weft.scene.build import load_scene
from weft.scene.membrane_law import membrane_law
from weft.scene.prepare import prepare
from weft.scene.scene import Scene


def two(height=0.012, names=("lower", "upper"), thickness=None):
    lower = weft.sheet(9, 9, 0.3, 0.3, fabric="felt")
    upper = weft.sheet(7, 7, 0.2, 0.2, fabric="silk").move((0.01, height, 0.007), (0, 30, 0))
    return weft.join([lower, upper], names, thickness)


def test_several_cloths_keep_their_fabrics():
    """Mass, energy and forces of the whole are those of the cloths alone."""
    cloth = two()
    lower = weft.sheet(9, 9, 0.3, 0.3, fabric="felt")
    assert [p.name for p in cloth.parts] == ["lower", "upper"]
    np.testing.assert_allclose(cloth.mass[:81], lower.mass)
    rng = np.random.default_rng(0)
    x = cloth.vertices + 1e-3 * rng.normal(size=cloth.vertices.shape)

    whole = sum_energies(prepare(Scene(cloth)).model.assembly.bound, kernel.array(x, vec3))
    for k, (fabric, ids) in enumerate([("felt", slice(0, 81)), ("silk", slice(81, None))]):
        size = (9, 9, 0.3, 0.3) if k == 0 else (7, 7, 0.2, 0.2)
        alone = prepare(Scene(weft.sheet(*size, fabric=fabric))).model.assembly
        terms = sum_energies(alone.bound, kernel.array(x[ids], vec3))
        number = "" if k == 0 else " 2"
        for name in ("membrane", "bending"):
            assert whole[name + number] == pytest.approx(terms[name], rel=1e-12)
    with refused(WeftError, "join.names"):
        weft.join([lower, lower], ["a", "a"])


def test_thickness_of_pairs():
    """A pair keeps the mean of both: cloth with cloth, with itself, with a body."""
    cloth = two(thickness=(2e-3, 4e-3))
    ball = dataclasses.replace(sphere(0.1, 0.05).move((0, -0.2, 0)), thickness=8e-3)
    model = prepare(Scene(cloth, bodies=[ball], contact=SelfContact(2e-3))).model
    who = model.contact.mesh.sides
    n, b = 81, cloth.n_vertices
    stencil = np.array([[0, n, n + 1, n + 2], [0, 1, 2, 3], [n, b, b + 1, b + 2]])
    np.testing.assert_allclose(who.thickness_of(stencil, np.zeros(3)), [3e-3, 2e-3, 6e-3])
    edges = np.array([[0, 1, n, n + 1], [n, n + 1, b, b + 1]])
    np.testing.assert_allclose(who.thickness_of(edges, np.ones(2)), [3e-3, 6e-3])


def test_cloth_rests_at_its_thickness():
    """Two cloths on a table of another thickness each: none comes nearer than its pair keeps."""
    cloth = two(0.02, thickness=(1e-3, 5e-3)).move((0, 6e-3, 0))
    table = plate(1.0, 1.0)
    scene = Scene(cloth, bodies=[table], contact=SelfContact(2e-3, thickness=3e-3))
    _, state, _ = stepped(scene, 20, 0.01, nothing_crosses)
    low, high = state.x[:81, 1], state.x[81:, 1]
    assert low.min() > 2e-3 and low.max() < 4.5e-3  # (1 + 3)/2
    assert high.min() > 2e-3 + 3e-3  # and (1 + 5)/2 above
    with refused(SceneError, "cloth at the start", got="lower and upper", hint="resolve: true"):
        prepare(Scene(two(2e-3), contact=SelfContact(2e-3, thickness=3e-3)))


def test_friction_by_pair():
    """Two strips on a table that moves aside: the one with friction comes along."""
    aside = Path([Keyframe(0.0), Keyframe(1.0, (0.4, 0.0, 0.0))], "smooth", hold=True)
    table = dataclasses.replace(plate(2.0, 2.0), path=aside, name="table")
    one = weft.sheet(5, 5, 0.1, 0.1).move((0.01, 3e-3, 0.2), (0, 20, 0))
    other = weft.sheet(5, 5, 0.1, 0.1).move((0.01, 3e-3, -0.2), (0, 20, 0))
    pairs = (Between(("rough", "table"), Friction(0.7, 0.6)),)
    contact = SelfContact(4e-3, pairs=pairs)
    cloth = weft.join([one, other], ["rough", "slick"])
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
    table = dataclasses.replace(plate(1.0, 1.0), name="table")
    pairs = (Between(("upper", "table"), ignore=True), Between(("upper", "lower"), ignore=True))
    scene = Scene(cloth, bodies=[table], contact=SelfContact(4e-3, pairs=pairs))
    _, state, _ = stepped(scene, 15, 0.01, nothing_crosses)
    assert state.x[81:, 1].max() < -0.05 and state.x[:81, 1].min() > 0
    assert len(intersections(state.x, cloth.faces)) == 0  # it has passed
    with refused(SceneError, "contact.pairs", got="'tabel'", hint="'table'"):
        wrong = (Between(("upper", "tabel"), ignore=True),)
        prepare(Scene(cloth, bodies=[table], contact=SelfContact(4e-3, pairs=wrong)))
    with refused(SceneError, "contact.pairs a, b"):
        Between(("a", "b"))


def test_pinned_pairs_are_left_out():
    cloth = two(3e-3)
    fixed = np.ones(cloth.n_vertices, dtype=bool)
    contact = prepare(Scene(cloth, contact=SelfContact(4e-3))).model.contact

    def found(fixed):
        x = np.array(cloth.vertices)
        return touching(contact, x, fixed).workspace.search.contacts(kernel.points(x))

    assert len(found(None)) > 10
    assert len(found(fixed)) == 0
    fixed[0] = False
    some = found(fixed)
    assert (len(some) < 10 and (some.stencil == 0).any(1).all()) or len(some) == 0


def test_lags_settle_friction():
    """Cloth pressed aside under a weightless start: with further lags friction knows the load."""
    cloth = weft.sheet(7, 7, 0.2, 0.2, fabric="felt").move((0.01, 5e-3, 0.01), (0, 15, 0))
    moved = {}
    for lags in (1, 4):
        contact = SelfContact(4e-3, friction=0.5, lags=lags)
        scene = Scene(cloth, bodies=[plate(1.0, 1.0)], contact=contact, velocity=(1.0, 0.0, 0.0))
        _, state, reports = stepped(scene, 8, 0.01, nothing_crosses)
        moved[lags] = float(state.v[:, 0].mean())
        assert lags == 1 or max(r.iterations for r in reports) > 2
    assert moved[4] < moved[1]  # it is braked from the step on in which it lands


def test_a_pinch_is_reported_and_passed_thinner():
    """Two pads that leave half the thickness: stop, or go on thinner and thick again after."""
    cloth = weft.sheet(9, 9, 0.2, 0.2, fabric="felt").move((0, 6e-3, 0))
    keys = [Keyframe(0.0), Keyframe(0.1, (0, -0.013, 0)), Keyframe(0.2), Keyframe(0.3)]
    press = dataclasses.replace(
        plate(0.1, 0.1).move((0, 0.018, 0)), path=Path(keys, "linear", hold=True), name="press"
    )
    for pinch in ("stop", "thin"):
        contact = SelfContact(4e-3, thickness=4e-3, pinch=pinch)
        scene = Scene(cloth, bodies=[plate(0.5, 0.5), press], contact=contact)
        ready = prepare(scene)
        model, stepper, state = ready.model, ready.stepper, ready.state
        memory, reports = stepper.init(model, state), []
        for _ in range(60):
            state, memory, report = stepper.step(model, state, memory, 0.005)
            reports.append(report)
            if not report.outcome.ok:
                break
            assert len(model.contact.crossings(state.x, state.t)) == 0
        if pinch == "stop":
            assert not report.outcome.ok and state.t < 0.1
        else:
            pinched = [r.contact["pinched"] for r in reports if "pinched" in r.contact]
            assert report.outcome.ok and 0 < len(pinched) < 50
            assert 0.2 < min(p["part"] for p in pinched) < 0.8
            assert np.abs(pinched[0]["place"]).max() < 0.2
            assert "pinched" not in reports[-1].contact  # as thick as before


def test_scene_files(tmp_path):
    path = tmp_path / "scene.yaml"
    text = (
        "cloths:\n"
        "  - {name: shirt, sheet: {nx: 7, ny: 7, width: 20 cm, height: 20 cm}, fabric: silk,\n"
        "     translation: [0, 2 cm, 0], thickness: fabric}\n"
        "  - {name: coat, sheet: {nx: 7, ny: 7, width: 20 cm, height: 20 cm}, fabric: felt,\n"
        "     translation: [0, 4 cm, 0], thickness: 2 mm}\n"
        "law: {name: stvk}\n"
        "contact:\n"
        "  gap: 4 mm\n"
        "  friction: {static: 0.4, kinetic: 0.3}\n"
        "  lags: 2\n"
        "  pairs:\n"
        "    - {between: [shirt, coat], friction: 0.1}\n"
        "    - {between: [coat top, table], ignore: true}\n"
        "bodies: [{name: table, box: {width: 1 m, height: 1 cm, depth: 1 m}, thickness: 1 mm}]\n"
        "pins: [{cloth: coat, corners: top}]\n"
    )
    path.write_text(text)
    scene = load_scene(path).scene
    who = prepare(scene).model.contact.mesh.sides
    assert list(who.names) == ["shirt", "coat", "table"]
    np.testing.assert_allclose(who.static, [[0.4, 0.1, 0.4], [0.1, 0.4, 0.4], [0.4, 0.4, 0.4]])
    np.testing.assert_allclose(who.kinetic[0], [0.3, 0.1, 0.3])
    silk = scene.cloth.parts[0].fabric.thickness
    np.testing.assert_allclose(np.unique(who.thickness), sorted({silk, 2e-3, 1e-3}))
    assert len(who.apart) == 1 and scene.pins[0].vertices.min() >= 49
    assert {type(membrane_law(scene, f)).__name__ for f in scene.cloth.fabrics} == {"StVK"}
    path.write_text(text.replace("cloth: coat, ", ""))
    with refused(WeftError, "pins.0.cloth"):
        load_scene(path)
    path.write_text(text.replace("kinetic: 0.3", "kinetic: 0.5"))
    with refused(WeftError, "contact.friction.kinetic", expected="0.4"):
        load_scene(path)
    path.write_text(text.replace("[shirt, coat]", "[shirt, cote]"))
    with refused(WeftError, "contact.pairs", got="'cote'"):
        load_scene(path)
    path.write_text(text.replace("cloth: coat", "cloth: cape"))
    with refused(WeftError, "cloth", got="'cape'"):
        load_scene(path)
