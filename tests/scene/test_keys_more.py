"""The gap of contact, thickness of cloths, length of gusts, seams, pressed lines and joints that
change in time; and that every number of the schema is thought about.
"""

import dataclasses
import re
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

import weft
from tests.scene.test_keys import (
    COTTON,
    STEP,
    check_jump,
    jump,
    run,
    sheet,
    whole_and_resumed,
    wind,
)
from tests.scene.test_keys_held import PLACE, tied
from tests.test_simulation import same_run
from weft.base.errors import SceneError, SceneProblems
from weft.base.keyframes import Keys, quotient_integral
from weft.base.schema.block import block_in, setting_in
from weft.bodies.joints.settings import Joint
from weft.bodies.rigid.settings import Rigid
from weft.contact import box, plate
from weft.contact.barrier.schedules import GAP as KEPT
from weft.contact.barrier.schedules import MOST_GROWTH as MOST
from weft.contact.barrier.stiffness import push
from weft.energies.air.gusts import Gusts
from weft.energies.seams.seam_keyframes import TearingKeys
from weft.energies.springs.bonds import Bonds
from weft.energies.springs.release import Release
from weft.fabric.fabric import CHANGING
from weft.scene.build import load_scene
from weft.scene.changing_scene import gust_offset
from weft.scene.field_units import json_schema
from weft.scene.keyframed_numbers import scene_at
from weft.scene.schema import SceneFile, keyframes_at


def numbers(part, path, seen, schema):
    """Paths of all numbers of a JSON schema, ``0`` for entries of lists."""
    if "$ref" in part:
        name = part["$ref"].rsplit("/", 1)[-1]
        if name not in seen and name != "Keyframes":
            yield from numbers(schema["$defs"][name], path, {*seen, name}, schema)
        return
    kinds = part.get("type", [])
    if {"number", "integer"} & set([kinds] if isinstance(kinds, str) else kinds):
        yield path
    for choice in part.get("anyOf", []):
        yield from numbers(choice, path, seen, schema)
    for k, entry in enumerate(part.get("prefixItems", [])):
        yield from numbers(entry, f"{path}.{k}", seen, schema)
    for name in ("items", "additionalProperties"):
        if isinstance(part.get(name), dict):
            yield from numbers(part[name], f"{path}.0", seen, schema)
    for name, field in part.get("properties", {}).items():
        yield from numbers(field, f"{path}.{name}".lstrip("."), seen, schema)


SCHEMA = json_schema()
NUMBERS = sorted(set(numbers(SCHEMA, "", set(), SCHEMA)))
OF_FABRICS = re.compile(r"cloths?(\.0)?\.fabrics?(\.0)?\.(?P<field>\w+)(\.0)?$")


def test_every_number_may_change_or_says_why_not():
    """A new field of the schema is in neither, and fails here."""
    assert len(NUMBERS) > 250 and "contact.gap" in NUMBERS and "pins.0.until" in NUMBERS
    named = {*CHANGING, *(f.removesuffix("_warp") for f in CHANGING)}
    unknown = []
    for path in NUMBERS:
        of_fabric = OF_FABRICS.match(path)
        parts = [int(name) if name.isdigit() else name for name in path.split(".")]
        changes, reason = keyframes_at(parts)
        if of_fabric:
            changes, reason = of_fabric["field"] in named, "curves" * ("curve" in path)
        if not changes and not reason:
            unknown.append(path)
    assert unknown == []


def constants(block, path=""):
    """Paths of the fields whose declaration says why they do not change, by the reason."""
    for name, field in block.model_fields.items():
        here = f"{path}.{name}".lstrip(".")
        reason, below = setting_in(field).constant, block_in(field.rebuild_annotation())
        if reason:
            yield here, reason
        if below is not None and here.count(".") < 5:
            yield from constants(below, here)


def test_the_docs_list_what_stays():
    text = (Path(__file__).parents[2] / "docs" / "keyframes.md").read_text()
    reasons = {}
    for path, reason in constants(SceneFile):
        reasons.setdefault(reason, []).append(f"`{path}`")
    for reason, paths in reasons.items():
        row = f"| {', '.join(paths)} | {reason} |"
        assert row in text, row


# Kinds of numbers, as in test_keys.py: the keyed scene, and those of before and after.


def resting(value, keyed=None, make=weft.sheet, n=6, friction=0.0, integrator="backward_euler"):
    """A sheet that falls on a plate, with a gap."""
    cloth = make(n, n, 0.2, 0.2, fabric=COTTON).moved((0.003, 1.2e-3, 0.002))
    contact = weft.SelfContact(gap=value, friction=friction)
    return weft.Scene(
        cloth,
        bodies=[plate(0.5, 0.5, 0.1)],
        step=STEP,
        keyed=keyed or {},
        contact=contact,
        integrator=integrator,
        velocity=(0.1, 0, 0),
    )


def gaps(before, after, **more):
    keyed = {"contact.gap": jump(before, after)}
    return [resting(before, keyed, **more), resting(before, **more), resting(after, **more)]


def jointed(field, before, after, **more):
    def made(value, **keyed):
        joint = Joint(**{"at": (0.0, 0.4, 0.1), "point": (0.02, 0.05, 0.0), **more, field: value})
        body = box((0.1, 0.1, 0.1), 0.1, "one")
        body = dataclasses.replace(body, rigid=Rigid(500.0, joints=[joint]))
        cloth = weft.sheet(3, 3, 0.1, 0.1, fabric=COTTON).moved((0.5, 0, 0))
        pins = [weft.Pin(cloth.border("left"))]
        return weft.Scene(cloth, pins, bodies=[body], step=STEP, **keyed)

    path = {f"bodies.0.rigid.joints.0.{field}": jump(before, after)}
    return [made(before, keyed=path), made(before), made(after)]


def on_a_rod(field, before, after, **more):
    """Rings that slide along a rod."""

    def made(value, **keyed):
        cloth = weft.sheet(5, 5, 0.2, 0.2, fabric=COTTON).moved((0, 0, 0), (90, 0, 0))
        top = cloth.border("top")
        y = float(cloth.vertices[top][0, 1]) + 0.012
        rod = box((0.4, 0.01, 0.01), 0.4, "rod").moved((0.0, y, 0.0))
        rod = dataclasses.replace(rod, rigid=Rigid(mass=0.3, joints=[Joint("weld")]))
        numbers = {"radius": 0.012, "stiffness": 50.0, **more, field: value}
        rings = weft.Slide(top, [(-0.2, y, 0.0), (0.2, y, 0.0)], body="rod", **numbers)
        return weft.Scene(
            cloth,
            bodies=[rod],
            attachments=[rings],
            step=STEP,
            gravity=(3.0, 0.0, 2.0),
            contact=weft.SelfContact(gap=1e-3),
            **keyed,
        )

    return [
        made(before, keyed={f"attachments.0.{field}": jump(before, after)}),
        made(before),
        made(after),
    ]


def creased(before, after, **more):
    def made(angle, **keyed):
        cloth = weft.sheet(7, 6, 0.3, 0.25, fabric=COTTON)
        u = cloth.corner_uv.reshape(-1, 2)
        middle = [(float(np.median(u[:, 0])), float(v)) for v in (u[:, 1].min(), u[:, 1].max())]
        return weft.Scene(
            cloth,
            [weft.Pin(cloth.border("left"))],
            step=STEP,
            pressed=[weft.Pressed(middle, angle)],
            **more,
            **keyed,
        )

    return [made(before, keyed={"pressed.0.angle": jump(before, after)}), made(before), made(after)]


def blown(before, after):
    wide = {"velocity": (3.0, 0.0, 1.0)}
    return [
        sheet(**wind(span=before, **wide), keyed={"wind.span": jump(before, after)}),
        sheet(**wind(span=before, **wide)),
        sheet(**wind(span=after, **wide)),
    ]


KINDS = {
    "gap that grows": lambda: gaps(1.5e-3, 2.9e-3),
    "gap that shrinks": lambda: gaps(2e-3, 2e-4),
    "gap, splines": lambda: gaps(1.5e-3, 2.9e-3, make=weft.spline_sheet),
    "gap, bdf2": lambda: gaps(1.5e-3, 2.9e-3, integrator="bdf2"),
    "gap, one solve": lambda: gaps(1.5e-3, 2.9e-3, integrator="bdf2_semi_implicit"),
    "gap, 1998": lambda: gaps(1.5e-3, 2.9e-3, integrator="baraff_witkin_1998"),
    "span": lambda: blown(0.05, 0.5),
    "pressed angle": lambda: creased(0.2, 1.5),
    "spring stiffness": lambda: jointed("stiffness", 50.0, 900.0, kind="spring"),
    "spring length": lambda: jointed("length", 0.35, 0.2, kind="spring", stiffness=300.0),
    "spring damping": lambda: jointed("damping", 0.0, 0.3, kind="spring", stiffness=300.0),
    "rope length": lambda: jointed("length", 0.37, 0.366, kind="rope", stiffness=1e4),
    "ball stiffness": lambda: jointed("stiffness", 50.0, 900.0, kind="ball", at=None),
    "radius of rings on a rigid rod": lambda: on_a_rod("radius", 0.012, 0.02),
    "friction of rings on a rigid rod": lambda: on_a_rod("friction", 0.0, 0.8, radius=0.01),
    "release": lambda: tied_release(),
}


def tied_release():
    """A spring that lets go at once where the force that it bears falls below what it holds."""
    scenes = tied(weft.Spring, "length", 0.05, 0.05, at=PLACE, stiffness=5.0)
    made = []
    for scene, force in zip(scenes, (10.0, 10.0, 1e-3)):
        (held,) = scene.attachments
        own = dataclasses.replace(held, release=Release(force=force))
        made.append(dataclasses.replace(scene, attachments=[own], keyed={}))
    keyed = {"attachments.0.release.force": jump(10.0, 1e-3)}
    made[0] = dataclasses.replace(made[0], keyed=keyed)
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_that_jumps_is_one_scene_and_then_the_other(kind):
    check_jump(*KINDS[kind]())


def test_a_gap_that_grows_pushes_within_what_it_may():
    """What is at half of a gap or nearer is pushed with 2.3 times as much where it doubles; what is
    farther away with 2.3 times what holds the weight at half of it.
    """
    room = np.linspace(1e-3, 0.999, 400)
    before, after = (np.array([push(r / g) for r in room]) for g in (1.0, MOST))
    near = room <= 0.5
    assert (after[near] / before[near]).max() < 2.3
    assert after[~near].max() < 2.3 and push(0.5) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    "integrator",
    [
        "backward_euler",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("bdf2", "bdf2_semi_implicit", "baraff_witkin_1998", "quasi_static")
        ),
    ],
)
def test_a_gap_carries_cloth_to_half_of_it(integrator):
    """Cloth lies, near half of the gap, where weight is held: as that grows tenfold at once, it is
    lifted in steps of a factor of two, through nothing; and sinks again.
    """
    keyed = {
        "contact.gap": Keys([(0.0, 1e-3), (0.3, 1e-3), (0.301, 1e-2), (0.9, 1e-2), (0.901, 5e-4)])
    }
    scene = dataclasses.replace(resting(1e-3, keyed, integrator=integrator), velocity=(0, 0, 0))
    model, stepper, state = scene.model(), scene.stepper(), scene.state()
    memory, heights = stepper.init(model, state), {}
    last = 1e-3
    for k in range(1, 81):
        state, memory, report = stepper.step(model, state, memory, 2 * STEP)
        assert report.outcome.ok
        now = float(memory[KEPT][0])
        assert now <= MOST * last * (1 + 1e-12) and now <= 1e-2
        assert now == min(keyed["contact.gap"].at(state.t), MOST * last)
        last = now
        assert state.x[:, 1].min() > 0
        heights[k] = state.x[:, 1].mean()
    load = {15: 1e-3, 44: 1e-2, 79: 5e-4}
    for k, gap_then in load.items():
        assert 0.3 * gap_then < heights[k] < 1.0 * gap_then, (k, heights[k])


def test_a_gap_has_to_be_less_than_some_edges_at_all_times():
    with pytest.raises(SceneError, match=r"contact.gap = 0.5 m.*triangles of the cloth"):
        resting(1e-3, {"contact.gap": Keys([(0, 1e-3), (9, 0.5)])}).model()


def test_pressure_of_a_frame_is_that_of_its_gap(tmp_path):
    """What contact presses with in a frame carries the weight, whatever the gap is then."""
    keyed = {"contact.gap": Keys([(0.0, 1e-3), (0.3, 1e-3), (0.4, 5e-3)])}
    scene = dataclasses.replace(resting(1e-3, keyed), velocity=(0, 0, 0))
    made = weft.simulate(scene, frames=30, fps=25, out=tmp_path / "a", progress=False)
    weight = 9.81 * scene.cloth.mass.sum()
    for k in (7, 30):
        frame = made.folder.frame(k)
        force = frame["contact_forces"].sum()
        assert force == pytest.approx(weight, rel=0.1), k


@pytest.mark.parametrize("make", [weft.sheet, weft.spline_sheet])
def test_thickness_of_one_cloth_of_two(make):
    """Two sheets, one above the other: the upper one's thickness grows, a pair keeps the mean."""
    low, high = (make(6, 6, 0.2, 0.2, fabric=COTTON).moved((0.003, h, 0.002)) for h in (2e-3, 4e-3))
    grows = Keys([(0.0, 2e-4), (0.05, 2e-4), (0.2, 4e-3)])
    cloth = weft.joined([low, high], thickness=["0.2 mm", grows])
    scene = weft.Scene(
        cloth, bodies=[plate(0.5, 0.5, 0.1)], step=STEP, contact=weft.SelfContact(gap=2e-3)
    )
    state, memory = run(scene, 40)
    np.testing.assert_allclose(memory["thickness"], [2e-4, 4e-3, 0.0])
    y = scene.model().vertices(state.x)[:, 1]
    half = len(y) // 2
    assert y[:half].min() > 1e-4 and y[half:].min() - y[:half].max() > 1.5e-3


def test_thickness_that_is_refused_in_python():
    with pytest.raises(SceneError, match=r"keyed cloths\.0\.thickness"):
        sheet(keyed={"cloths.0.thickness": jump(1e-3, 2e-3)})
    low = weft.sheet(3, 3, 0.2, 0.2, fabric=COTTON)
    cloth = weft.joined([low], thickness=[Keys([(0, 1e-3), (1, -1e-3)])])
    with pytest.raises(SceneError, match=r"thickness of cloth 1 = -0.001"):
        weft.Scene(cloth, contact=weft.SelfContact())


def test_integral_of_a_quotient():
    above, below = Keys([(0, 2.0), (1, 5.0), (3, -1.0)], "smooth"), Keys([(0.5, 0.2), (2, 2.0)])
    for t in (0.0, 0.3, 1.7, 4.0):
        inside = [k for k in (0.5, 1.0, 2.0, 3.0) if k < t]
        expected = quad(lambda s: above.at(s) / below.at(s), 0, t, points=inside or None)[0]
        assert quotient_integral(above, below, t) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    ratio = quotient_integral(Keys([(0, 3.0)]), Keys([(0, 1.0), (1, 1e3)]), 1.0)
    assert ratio == pytest.approx(3.0 * np.log(1e3) / 999.0, rel=1e-6)


def test_gusts_whose_length_changes():
    """Where the length stays it is as it was; while it grows, the wave that passes the origin has
    the frequency U/L of the time, so its phase is the integral of U/L.
    """
    own = weft.Wind((4.0, 0.0, 0.0), gusts=Gusts(0.3, 0.5, 2))
    grows = Keys([(0.0, 0.5), (1.0, 0.5), (2.0, 2.0)])
    scene = sheet(wind=own, keyed={"wind.gusts.length": grows})
    x = np.random.default_rng(1).normal(size=(9, 3))
    np.testing.assert_allclose(gust_offset(scene, 0.8), [3.2, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(
        scene_at(scene, 0.8).wind.at(x, 0.8, gust_offset(scene, 0.8)),
        own.at(x, 0.8),
        rtol=1e-9,
        atol=1e-9,
    )
    t, phase = 1.5, 4.0 / 0.5 + 4.0 * np.log(1.25 / 0.5) / 1.5
    np.testing.assert_allclose(gust_offset(scene, t)[0], 1.25 * phase, rtol=1e-9)
    still = own.gusts.waves(4.0)
    now = scene_at(scene, t).wind.at(np.zeros((1, 3)), t, gust_offset(scene, t))[0] - [4.0, 0, 0]
    angle = -0.5 * still.wave[:, 0] * phase + still.phase
    np.testing.assert_allclose(now, np.cos(angle) @ still.amplitude, rtol=1e-8, atol=1e-8)
    fast = own.at(np.zeros((1, 3)), t + 1e-4)  # no jump of phase while it grows
    a, b = (
        scene_at(scene, s).wind.at(np.zeros((1, 3)), s, gust_offset(scene, s))
        for s in (t, t + 1e-5)
    )
    assert np.abs(b - a).max() < 0.05 and np.abs(fast).max() < 20


def test_a_seam_tears_at_the_strength_of_the_time():
    """In the times of the animation, which begins at 2 s."""
    pairs = np.array([[0, 1]], dtype=np.int32)
    falls = TearingKeys(
        np.zeros(1, dtype=np.int32), np.array([0.1]), Keys([(0, 50.0), (1, 10.0)]), 2.0
    )
    bonds = Bonds(pairs, np.array([100.0]), 2, last=0.0, strength=5.0, tearing=[falls])
    both = Bonds.joined([Bonds(pairs, np.array([1.0]), 2), bonds], "sewing")
    for t, expected in ((0.5, 5.0), (2.0, 5.0), (2.5, 3.0), (9.0, 1.0)):
        np.testing.assert_allclose(both.strengths(t), [np.inf, expected])
    assert both.changes


SEWN = """\
panels:
  a: {outline: [[0, 0], [10 cm, 0], [10 cm, 10 cm], [0, 10 cm]]}
  b:
    outline: [[0, 0], [10 cm, 0], [10 cm, 10 cm], [0, 10 cm]]
    placement: {translation: [10.2 cm, 0, 0]}
seams:
  side:
    join: [a.1, b.3]
    angle: {keys: [[0 s, 0], [0.2 s, 90 deg]], between: smooth}
    fold_stiffness: {keys: [[0 s, 1e-4 N], [0.2 s, 1e-2 N]]}
    strength: {keys: [[0 s, 900 N/m], [0.3 s, 900 N/m], [0.4 s, 0 N/m]]}
"""
SCENE = """\
CLOTH
pins: [{box: {low: [-1, -1, -1], high: [1 cm, 1, 1]}}]
sewing: {closing: 0.1 s, settle: 0.1 s}
contact: {gap: {keys: [[0 s, 0.5 mm], [0.3 s, 1 mm]]}}
gravity: [0, 0, 0]
step: 10 ms
seconds: 0.7 s
"""
GARMENT = "cloth: {garment: {pattern: p.yaml, size: 4 cm}, MADE thickness: THICK}"
THICK = "{keys: [[0 s, 0.1 mm], [0.3 s, 0.4 mm]]}"
MADE = {"triangles": "", "splines": "discretization: bspline, spline: {span_size: 4 cm},"}


def written(folder, kind):
    (folder / "p.yaml").write_text(SEWN)
    cloth = GARMENT.replace("MADE", MADE[kind]).replace("THICK", THICK)
    (folder / "s.yaml").write_text(SCENE.replace("CLOTH", cloth))
    return folder / "s.yaml"


@pytest.mark.parametrize("kind", ["triangles", pytest.param("splines", marks=pytest.mark.slow)])
def test_a_seam_folds_and_tears_in_time_and_resumes_bitwise(tmp_path, kind):
    path = written(tmp_path, kind)
    how = {"fps": 20, "progress": False, "fsync": False}
    whole = weft.simulate(load_scene(path).scene, frames=14, out=tmp_path / "a", **how)
    weft.simulate(load_scene(path).scene, frames=9, out=tmp_path / "b", **how)
    again = weft.simulate(load_scene(path).scene, frames=14, out=tmp_path / "b", resume=True, **how)
    same_run(whole, again)
    kept = whole.folder.frame(14)
    assert any(name.endswith(KEPT) for name in kept) and any("thickness" in n for n in kept)
    scene = load_scene(path).scene
    model = scene.model()
    assert model.changes
    pairs = scene.cloth.seams[0][1]

    def apart(k):
        y = model.vertices(whole.folder.frame(k)["x"])
        return np.linalg.norm(y[pairs[:, 0]] - y[pairs[:, 1]], axis=1).max()

    def tilt(k):
        y = model.vertices(whole.folder.frame(k)["x"])
        b = scene.cloth.part("b")
        return np.ptp(y[b.vertices][:, 2])

    assert apart(9) < 2e-4  # sewn, and it holds
    assert tilt(4) < 3e-3 < 2e-2 < tilt(9)  # from flat to folded
    assert apart(14) > 5 * apart(9)  # torn


def test_seams_of_patterns_are_checked_and_written(tmp_path):
    from weft.garment.formats import read_pattern
    from weft.show.pattern.svg_writer import _notes

    path = written(tmp_path, "triangles")
    pattern = read_pattern(tmp_path / "p.yaml")
    (seam,) = pattern.seams
    assert seam.angle.values == pytest.approx([0.0, np.pi / 2])
    said = _notes(pattern)["seams"]["side"]
    assert said["angle"]["keys"][1][1] == pytest.approx(90.0)
    for told, match in (("[0.4 s, -1 N/m]]", "strength = -1"), ("[0 s, 0 N/m]]", "increase")):
        (tmp_path / "p.yaml").write_text(SEWN.replace("[0.4 s, 0 N/m]]", told))
        with pytest.raises(SceneProblems, match=match):
            load_scene(path)


FILE = """\
cloths:
  - sheet: {nx: 7, ny: 7, width: 30 cm, height: 30 cm}
    thickness: {keys: [[0 s, 0.2 mm], [0.1 s, 0.6 mm]]}
    DISCRETIZATION
    fabric: cotton
    translation: [0, 2 mm, 0]
bodies:
  - plate: {width: 1 m, depth: 1 m}
  - box: {width: 5 cm, height: 5 cm, depth: 5 cm}
    name: weight
    translation: [0, 30 cm, 0]
    rigid:
      mass: 100 g
      joints:
        - {kind: rope, at: [0, 60 cm, 0], length: {keys: [[0 s, 40 cm], [0.2 s, 27 cm]]}}
        - {kind: spring, at: [10 cm, 30 cm, 0], stiffness: {keys: [[0, 1 N/m], [0.2, 9 N/m]]}}
wind:
  velocity: [2 m/s, 0, 0]
  span: {keys: [[0 s, 1 cm], [0.2 s, 10 cm]]}
  gusts: {intensity: 0.3, length: {keys: [[0 s, 10 cm], [0.2 s, 40 cm]]}}
attachments:
  - kind: spring
    corners: bottom-right
    at: [15 cm, 20 cm, -15 cm]
    stiffness: 8 N/m
    length: 1 cm
    release: {force: {keys: [[0 s, 9 N], [0.15 s, 0.05 N]]}}
contact: {gap: {keys: [[0 s, 1 mm], [0.1 s, 3 mm]]}, friction: 0.2}
step: 10 ms
seconds: 0.2 s
"""
MADE_OF = {
    "triangles": ("rotation: [0, 0, 0]", "10 cm"),
    "splines": ("discretization: bspline", None),
}


@pytest.mark.parametrize("kind", MADE_OF)
def test_resume_is_bitwise(tmp_path, kind):
    line, span = MADE_OF[kind]
    text = FILE.replace("DISCRETIZATION", line)
    if span is None:  # added mass is of triangles
        text = re.sub(r"  span: .*\n", "", text)
    whole = whole_and_resumed(tmp_path, text)
    kept = whole.folder.frame(4)
    assert any(n.endswith(KEPT) for n in kept) and any("thickness" in n for n in kept)
    assert any(np.isfinite(kept[n]).any() for n in kept if n.endswith("released"))
    center = whole.metrics[-1]["bodies"][0]["center"]
    length = 0.4 - 0.13 * 0.8  # at 0.16 s
    assert center[1] == pytest.approx(0.6 - length, abs=1e-3)
