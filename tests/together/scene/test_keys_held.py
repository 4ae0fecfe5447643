"""Gusts, attachments and elastics that change in time: each
against scenes of constant numbers or a closed form; resume; and what is refused.
"""

import dataclasses
from functools import partial

import numpy as np
import pytest
from scipy.integrate import quad

import weft
from tests.refusals import refused
from tests.resuming import whole_and_resumed
from tests.stepping import steps
from tests.together.scene.test_keys import (
    COTTON,
    STEP,
    check_jump,
    jump,
    scenes_of,
    sheet,
    spline,
)
from weft.base.errors import SceneError, SceneProblems
from weft.base.keyframes import Keys
from weft.energies.seams.elastic_bands import ElasticBand
from weft.energies.springs.bonds import Bonds
from weft.integrators.quasi_static import QuasiStaticSettings
from weft.scene.build import load_scene
from weft.scene.keyframed_numbers import gust_offset
from weft.scene.prepare import prepare


def tied(kind, make=sheet, **more):
    """How a corner is held: ``more``, with one number that changes."""

    def made(field, value, keyed):
        scene = make()
        held = kind(scene.cloth.corners("bottom-right"), **{**more, field: value})
        return dataclasses.replace(scene, attachments=[held], keyed=keyed)

    return made


def rings(field, value, keyed):
    """Rings on a pole along the top of a sheet; for their spacing they are drawn along it, up to
    one that is held.
    """
    drawn = field == "spacing"
    cloth = weft.sheet(7, 6, 0.3, 0.25, fabric=COTTON)
    top = cloth.border("top")
    rail = cloth.vertices[top] + [0.0, 0.0, 0.004]
    ends = np.array([rail[0] - [0.2, 0.1, 0.0], *rail, rail[-1] + [0.2, 0.0, 0.0]])
    slide = weft.Slide(top, ends, stiffness=300.0, **{"radius": 4e-3, field: value})
    pins = [weft.Pin(cloth.corners("top-right"))] if drawn else []
    gravity = (90 if drawn else 3, -9, 0)
    return weft.Scene(cloth, pins, step=STEP, gravity=gravity, attachments=[slide], keyed=keyed)


def between(field, value, keyed):
    """Two corners of a sheet that are tied to one another."""
    scene = sheet()
    a, b = (scene.cloth.corners(f"{w}-right") for w in ("bottom", "top"))
    # Closed within 0.2 s: a sudden pull buckles the flat sheet in more than 100 iterations.
    held = weft.AttachCloth(a, b, closing=0.2, stiffness=20.0, **{field: value})
    return dataclasses.replace(scene, attachments=[held], keyed=keyed)


def check_field(make, field, before, after, own="attachments.0"):
    """A scene whose number jumps is one and then the other; ``make`` makes it of the field, its
    value and keyframes.
    """
    check_jump(*scenes_of(f"{own}.{field}", before, after, partial(make, field)))


PLACE = (0.25, 0.3, 0.1)
ROPE = tied(weft.Rope, at=PLACE, length=0.32, stiffness=5.0)
SPRING = tied(weft.Spring, at=PLACE, length=0.1, stiffness=5.0)
KINDS = {
    "rope": (tied(weft.Rope, at=PLACE), "length", 0.35, 0.32),
    "onset of a rope": (ROPE, "onset", 0.01, 0.2),
    "stiffness of a rope": (ROPE, "stiffness", 5.0, 50.0),
    "length of a spring": (SPRING, "length", 0.3, 0.1),
    "stiffness of a spring": (SPRING, "stiffness", 1.0, 9.0),
    "damping of a spring": (SPRING, "damping", 0.0, 0.5),
    "splines": (tied(weft.Spring, spline, at=PLACE, stiffness=5.0), "length", 0.3, 0.1),
    "between cloths": (between, "length", 0.02, 0.0),
    "radius of rings": (rings, "radius", 4e-3, 8e-3),
    "friction of rings": (rings, "friction", 0.0, 0.4),
    "spacing of rings": (rings, "spacing", 0.02, 0.0495),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_that_jumps_is_one_scene_and_then_the_other(kind):
    check_field(*KINDS[kind])


@pytest.mark.parametrize("between", ["linear", "smooth", "hold"])
def test_integrals_of_keys(between):
    """Against quadrature, before, between and after the keys."""
    keys = Keys([(0.5, 1.0), (1.0, 3.0), (2.0, 3.0), (4.0, -1.0)], between)
    for t in (0.3, 0.5, 0.8, 1.5, 3.3, 7.0):
        breaks = [b for b, _ in keys.points if b < t]
        expected = quad(keys.at, 0, t, points=breaks or None, limit=200)[0]
        assert keys.integral(t) == pytest.approx(expected, abs=1e-8), t


def test_gusts_are_carried_by_a_wind_that_changes():
    """A wind that turns has carried them along the integral of its velocity, as large as the speed
    of the time; where there is no wind, there are none.
    """
    rise = {
        "wind.velocity.0": Keys([(0, 4.0), (1, 8.0), (2, 0.0)]),
        "wind.gusts.intensity": Keys([(0, 0.2), (2, 0.4)]),
    }
    own = weft.Wind((4.0, 0.0, 0.0), gusts=weft.Gusts(0.2, 0.3, 2))
    scene = sheet(wind=own, keyed=rise)
    assert gust_offset(scene.wind, scene.keyed, 1.5) == pytest.approx((6.0 + 3.0, 0.0, 0.0))
    x = np.random.default_rng(0).normal(size=(20, 3))
    found = scene.at_keys(1.0).wind.at(x, 1.0) - [8.0, 0, 0]
    still = own.at(x - [6.0, 0, 0], 0.0) - [4.0, 0, 0]
    np.testing.assert_allclose(found, still * (8.0 * 0.3) / (4.0 * 0.2), rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(scene.at_keys(2.0).wind.at(x, 2.0), 0.0)
    assert gust_offset(own, {}, 1.0) is None


def test_a_spring_in_time_holds_the_weight_of_the_time():
    """At rest, r = L + m g/k with length, stiffness and gravity of the step's end."""
    gravity, length = Keys([(0, -9.81), (1, -19.62)]), Keys([(0, 0.2), (1, 0.1)])
    stiffness = Keys([(0, 1.0), (1, 3.0)], "smooth")
    light = dataclasses.replace(COTTON, density=0.1)
    cloth = weft.sheet(3, 3, 0.1, 0.1, fabric=light).move((0, 0, 0), (90, 0, 0))
    corner = cloth.corners("top-left")
    place = cloth.vertices[corner[0]] + [0.0, 0.3, 0.0]
    spring = weft.Spring(corner, at=tuple(place), length=0.2, stiffness=1.0)
    own = "attachments.0"
    keyed = {f"{own}.length": length, f"{own}.stiffness": stiffness, "gravity.1": gravity}
    how = {"integrator": "quasi_static", "settings": QuasiStaticSettings(1e-6, 1e-5, 2000)}
    scene = weft.Scene(cloth, attachments=[spring], keyed=keyed, **how)
    for state, _, report in steps(scene, 4, 0.25):
        t = state.t
        pull = -0.1 * 0.01 * gravity.at(t)
        assert report.attachments["attachment 1"]["largest"] == pytest.approx(pull, rel=1e-4)
        r = np.linalg.norm(state.x[corner[0]] - place)
        assert r == pytest.approx(length.at(t) + pull / stiffness.at(t), rel=1e-4)


def test_a_band_has_the_tension_of_the_time():
    """EA (L/(r L0) - 1) at every time, in whatever order bands are joined."""
    ratio, pull = Keys([(0.0, 0.9), (1.0, 0.6)]), Keys([(0.0, 30.0), (1.0, 50.0)])
    full, ids = np.full(4, 0.05), np.arange(4, dtype=np.int32)
    pairs = np.stack([ids, ids + 1], axis=1)
    bands, how = [ElasticBand(ids, full, ratio, pull, begin=2.0)], {"closing": (0.0, 0.5)}
    how |= {"first": full, "last": 0.9 * full, "name": "a"}
    band = Bonds(pairs, 30.0 / (0.9 * full), 5, bands=bands, **how)
    other = Bonds(pairs, np.full(4, 7.0), 5, last=0.01, name="b")
    x = np.zeros((5, 3))
    x[:, 0] = 0.055 * np.arange(5)
    for bonds, rows in ((band, slice(0, 4)), (Bonds.concatenate([other, band], "c"), slice(4, 8))):
        for t in (0.6, 2.0, 2.5, 4.0):
            r, k = ratio.at(t - 2), pull.at(t - 2)
            expected = k * (0.055 / (r * 0.05) - 1)
            np.testing.assert_allclose(bonds.tension(x, t)[rows], expected, rtol=1e-12)
        assert bonds.changes
    assert not other.changes


FILE = """\
cloths:
  - sheet: {nx: 5, ny: 5, width: 30 cm, height: 30 cm}
    thickness: fabric
    DISCRETIZATION
    fabric: {preset: cotton, limit: 30 %}
    translation: [0, 2 mm, 0]
bodies:
  - {plate: {width: 1 m, depth: 1 m}, thickness: 0.2 mm}
  - box: {width: 5 cm, height: 5 cm, depth: 5 cm}
    name: weight
    translation: [0, 30 cm, 0]
    rigid:
      mass: 100 g
      joints:
        - {kind: rope, at: [0, 60 cm, 0], length: {keys: [[0 s, 40 cm], [0.2 s, 27 cm]]}}
        - {kind: spring, at: [10 cm, 30 cm, 0], stiffness: {keys: [[0, 1 N/m], [0.2, 9 N/m]]}}
wind:
  velocity: [{keys: [[0 s, 1 m/s], [0.1 s, 6 m/s]]}, 0, 0]
  gusts: {intensity: {keys: [[0 s, 0.1], [0.2 s, 0.5]]}, length: {keys: [[0, 0.1], [0.2, 0.4]]}}
attachments:
  - kind: rope
    corners: top-left
    at: [-15 cm, 20 cm, 15 cm]
    length: {keys: [[0 s, 40 cm], [0.1 s, 12 cm]]}
    stiffness: 20 N/m
  - kind: spring
    corners: bottom-right
    at: [15 cm, 20 cm, -15 cm]
    stiffness: {keys: [[0 s, 1 N/m], [0.2 s, 8 N/m]]}
    damping: {keys: [[0 s, 0 s], [0.2 s, 30 ms]]}
    length: 1 cm
    release: {force: {keys: [[0 s, 9 N], [0.15 s, 0.05 N]]}}
contact: {gap: 2 mm, thickness: 0.1 mm, friction: {keys: [[0 s, 0.1], [0.2 s, 0.4]]}}
step: 10 ms
seconds: 0.2 s
"""
MADE_OF = {
    "triangles": "rotation: [0, 0, 0]",
    "splines": "discretization: bspline",
}


@pytest.mark.parametrize("kind, linear", [("triangles", "auto"), ("splines", "multigrid")])
def test_resume_is_bitwise(tmp_path, kind, linear):
    """Multigrid widens its smoother in a step; what it found is not used in the next step, and in
    this step also where contact changes the pattern.
    """
    solver = f"integrator: {{backward_euler: {{linear: {linear}}}}}\n"
    path = tmp_path / "s.yaml"
    path.write_text(solver + FILE.replace("DISCRETIZATION", MADE_OF[kind]))
    whole = whole_and_resumed(load_scene(path).scene, tmp_path, fps=25)
    kept = whole.folder.frame(4)
    assert any(np.isfinite(kept[n]).any() for n in kept if n.endswith("released"))
    center = whole.metrics[-1]["bodies"][0]["center"]
    length = 0.4 - 0.13 * 0.8  # at 0.16 s
    assert center[1] == pytest.approx(0.6 - length, abs=1e-3)


REFUSED = {
    "wind.gusts.length": "wind.gusts.length={keys: [[0 s, 1 m], [1 s, 0 m]]}",
    ("sewing.closing", "keyframes", "close_at"): "sewing.closing={keys: [[0 s, 1 s]]}",
    ("attachments.0.length", "-0.01", "t = 0.1 s"): "attachments.0.length.keys.1.1=-1 cm",
}


@pytest.mark.parametrize("said", REFUSED)
def test_refused_with_its_line(tmp_path, said):
    (tmp_path / "s.yaml").write_text(FILE.replace("DISCRETIZATION", MADE_OF["triangles"]))
    with refused(SceneProblems, said):
        load_scene(tmp_path / "s.yaml", [REFUSED[said]])


def test_refused_in_python():
    with refused(SceneError, "keyed attachments.0.length"):
        sheet(keyed={"attachments.0.length": jump(0.35, 0.4)})
    with refused(SceneError, "attachments.0.spacing", got="0"):
        rings("spacing", 0.02, {"attachments.0.spacing": jump(0.02, 0.0)})


PATTERN = """\
panels:
  a: {outline: [[0, 0], [20 cm, 0], [20 cm, 10 cm], [0, 10 cm]]}
elastics:
  waist:
    edges: a.0
    ratio: {keys: [[0 s, 0.9], [1 s, 0.6]], between: smooth}
    stiffness: {keys: [[0, 30 N], [500 ms, 50 N]]}
"""


def test_elastics_of_patterns_change_in_times_of_the_animation(tmp_path):
    (tmp_path / "p.yaml").write_text(PATTERN)
    (tmp_path / "s.yaml").write_text(
        "cloth: {garment: {pattern: p.yaml, size: 5 cm}}\nsewing: {closing: 1 s, settle: 1 s}\n"
        "contact: {}\nseconds: 1\n"
    )
    scene = load_scene(tmp_path / "s.yaml").scene
    (bands,) = (e for e in scene.energies if e.name == "elastics")
    ratios = Keys([(0, 0.9), (1, 0.6)], "smooth")
    for t, pull in ((1.0, 30.0), (2.0, 30.0), (2.25, 40.0), (3.5, 50.0)):
        ratio = ratios.at(t - 2)
        np.testing.assert_allclose(bands.lengths(t).sum(), ratio * 0.2, rtol=1e-12)
        np.testing.assert_allclose(bands.stiffness_at(t) * bands.lengths(t), pull, rtol=1e-12)
    assert prepare(scene).model.changes
    assert len(weft.batch([scene]).worlds) == 1
    (tmp_path / "p.yaml").write_text(PATTERN.replace("0.6", "-0.6"))
    with refused(SceneProblems, "elastic waist: ratio", got="-0.6"):
        load_scene(tmp_path / "s.yaml")
