"""The length of gusts, joints, rings and releases that change in time; and that every number of the
schema is thought about.
"""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

import weft
from tests.together.scene.test_keys import COTTON, STEP, sheet
from tests.together.scene.test_keys_held import PLACE, check_field, tied
from weft.base.keyframes import Keys, quotient_integral
from weft.base.schema.block import block_in, fields_of, setting_in
from weft.bodies.joints.settings import Joint
from weft.bodies.rigid.settings import Rigid
from weft.contact import box
from weft.energies.air.gusts import Gusts
from weft.energies.springs.release import Release
from weft.scene.field_units import json_schema
from weft.scene.keyframed_numbers import gust_offset
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


def test_every_number_may_change_or_says_why_not():
    """A new field of the schema is in neither, and fails here."""
    assert len(NUMBERS) > 250 and "contact.gap" in NUMBERS and "pins.0.until" in NUMBERS
    unknown = []
    for path in NUMBERS:
        parts = [int(name) if name.isdigit() else name for name in path.split(".")]
        changes, reason = keyframes_at(parts)
        if not changes and not reason:
            unknown.append(path)
    assert unknown == []


def constants(block, path=""):
    """Paths of the fields whose declaration says why they do not change, by the reason."""
    for name, field in fields_of(block).items():
        here = f"{path}.{name}".lstrip(".")
        reason, below = setting_in(field).constant, block_in(field.rebuild_annotation())
        if reason:
            yield here, reason
        if below is not None and here.count(".") < 5:
            yield from constants(below, here)


def test_the_docs_list_what_stays():
    text = (Path(__file__).parents[3] / "docs" / "keyframes.md").read_text()
    reasons = {}
    for path, reason in constants(SceneFile):
        reasons.setdefault(reason, []).append(f"`{path}`")
    for reason, paths in reasons.items():
        row = f"| {', '.join(paths)} | {reason} |"
        assert row in text, row


def jointed(**more):
    """How a body is joined: ``more``, with one number that changes."""

    def made(field, value, keyed):
        joint = Joint(**{"at": (0.0, 0.4, 0.1), "point": (0.02, 0.05, 0.0), **more, field: value})
        body = box((0.1, 0.1, 0.1), 0.1, "one")
        body = dataclasses.replace(body, rigid=Rigid(500.0, joints=[joint]))
        cloth = weft.sheet(3, 3, 0.1, 0.1, fabric=COTTON).move((0.5, 0, 0))
        pins = [weft.Pin(cloth.border("left"))]
        return weft.Scene(cloth, pins, bodies=[body], step=STEP, keyed=keyed)

    return made


def on_a_rod(field, value, keyed):
    """Rings that slide along a rod."""
    cloth = weft.sheet(5, 5, 0.2, 0.2, fabric=COTTON).move((0, 0, 0), (90, 0, 0))
    top = cloth.border("top")
    y = float(cloth.vertices[top][0, 1]) + 0.012
    rod = box((0.4, 0.01, 0.01), 0.4, "rod").move((0.0, y, 0.0))
    rod = dataclasses.replace(rod, rigid=Rigid(mass=0.3, joints=[Joint("weld")]))
    numbers = {"radius": 0.01, "stiffness": 50.0, field: value}
    rings = weft.Slide(top, [(-0.2, y, 0.0), (0.2, y, 0.0)], body="rod", **numbers)
    return weft.Scene(
        cloth,
        bodies=[rod],
        attachments=[rings],
        step=STEP,
        gravity=(3.0, 0.0, 2.0),
        contact=weft.SelfContact(gap=1e-3),
        keyed=keyed,
    )


def released(field, value, keyed):
    """A spring that lets go at once where the force that it bears falls below what it holds."""
    release = Release(**{field: value})
    return tied(weft.Spring, at=PLACE, stiffness=5.0, release=release)("length", 0.05, keyed)


SPRING = jointed(kind="spring", stiffness=300.0)
JOINT = "bodies.0.rigid.joints.0"
KINDS = {
    "stiffness of a spring": (SPRING, "stiffness", 50.0, 900.0, JOINT),
    "length of a spring": (SPRING, "length", 0.35, 0.2, JOINT),
    "damping of a spring": (SPRING, "damping", 0.0, 0.3, JOINT),
    "length of a rope": (jointed(kind="rope", stiffness=1e4), "length", 0.37, 0.366, JOINT),
    "stiffness of a ball": (jointed(kind="ball", at=None), "stiffness", 50.0, 900.0, JOINT),
    "radius of rings": (on_a_rod, "radius", 0.012, 0.02),
    "friction of rings": (on_a_rod, "friction", 0.0, 0.8),
    "release": (released, "force", 10.0, 1e-3, "attachments.0.release"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_that_jumps_is_one_scene_and_then_the_other(kind):
    check_field(*KINDS[kind])


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
    np.testing.assert_allclose(gust_offset(scene.wind, scene.keyed, 0.8), [3.2, 0, 0], rtol=1e-12)
    np.testing.assert_allclose(
        scene.at_keys(0.8).wind.at(x, 0.8),
        own.at(x, 0.8),
        rtol=1e-9,
        atol=1e-9,
    )
    t, phase = 1.5, 4.0 / 0.5 + 4.0 * np.log(1.25 / 0.5) / 1.5
    np.testing.assert_allclose(gust_offset(scene.wind, scene.keyed, t)[0], 1.25 * phase, rtol=1e-9)
    still = own.gusts.waves(4.0)
    now = scene.at_keys(t).wind.at(np.zeros((1, 3)), t)[0] - [4.0, 0, 0]
    angle = -0.5 * still.wave[:, 0] * phase + still.phase
    np.testing.assert_allclose(now, np.cos(angle) @ still.amplitude, rtol=1e-8, atol=1e-8)
    fast = own.at(np.zeros((1, 3)), t + 1e-4)  # no jump of phase while it grows
    a, b = (scene.at_keys(s).wind.at(np.zeros((1, 3)), s) for s in (t, t + 1e-5))
    assert np.abs(b - a).max() < 0.05 and np.abs(fast).max() < 20
