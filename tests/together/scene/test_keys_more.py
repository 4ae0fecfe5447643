"""The length of gusts, joints, rings and releases that change in time; and that every number of the
schema is thought about.
"""

import dataclasses

import numpy as np
import pytest

import weft
from tests.together.scene.test_keys import COTTON, STEP, sheet
from tests.together.scene.test_keys_held import PLACE, check_field, tied
from weft.base.keyframes import Keys
from weft.bodies.joints.settings import Joint
from weft.bodies.rigid.settings import Rigid
from weft.contact import box
from weft.energies.air.gusts import Gusts
from weft.energies.springs.release import Release
from weft.scene.field_units import json_schema
from weft.scene.keyframed_numbers import gust_offset
from weft.scene.schema import keyframes_at


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
    parts = {p: [int(n) if n.isdigit() else n for n in p.split(".")] for p in NUMBERS}
    assert [path for path, names in parts.items() if not any(keyframes_at(names))] == []


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
    "release": (released, "force", 10.0, 1e-3, "attachments.0.release"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_that_jumps_is_one_scene_and_then_the_other(kind):
    check_field(*KINDS[kind])


def test_gusts_whose_length_changes():
    """Where the length stays it is as it was; while it grows, the wave that passes the origin has
    the frequency U/L of the time, so its phase is the integral of U/L.
    """
    own = weft.Wind((4.0, 0.0, 0.0), gusts=Gusts(0.3, 0.5, 2))
    grows = Keys([(0.0, 0.5), (1.0, 0.5), (2.0, 2.0)])
    scene = sheet(wind=own, keyed={"wind.gusts.length": grows})
    x = np.random.default_rng(1).normal(size=(9, 3))
    np.testing.assert_allclose(gust_offset(scene.wind, scene.keyed, 0.8), [3.2, 0, 0], rtol=1e-12)
    now = scene.at_keys(0.8).wind.at(x, 0.8)
    np.testing.assert_allclose(now, own.at(x, 0.8), rtol=1e-9, atol=1e-9)
    t, phase = 1.5, 4.0 / 0.5 + 4.0 * np.log(1.25 / 0.5) / 1.5
    np.testing.assert_allclose(gust_offset(scene.wind, scene.keyed, t)[0], 1.25 * phase, rtol=1e-9)
    still = own.gusts.waves(4.0)
    now = scene.at_keys(t).wind.at(np.zeros((1, 3)), t)[0] - [4.0, 0, 0]
    angle = -0.5 * still.wave[:, 0] * phase + still.phase
    np.testing.assert_allclose(now, np.cos(angle) @ still.amplitude, rtol=1e-8, atol=1e-8)
