"""Which bodies pictures and pages frame together with the cloth."""

from itertools import pairwise

import numpy as np
import pytest

from tests.engine.show.pictures import SMALL, follow, upright
from weft.bodies.shapes.primitives import box, capsule, plate, sphere
from weft.discretization.mesh import grid
from weft.show.framing import framed_vertices
from weft.show.picture.renderer import Renderer, Style
from weft.show.viewer.page import content_of

pytestmark = pytest.mark.quick
SKIRT = np.array(grid(9, 9, 0.6, 0.6).vertices) + [0, 1.0, 0]
PERSON = {"radius": 0.2, "length": 1.4, "size": 0.1}  # as tall as a person, 1.8 m


def framed(cloth, *bodies):
    """Names of the bodies that are framed; ``cloth`` holds the positions by frame."""
    ends = np.cumsum([0, *(len(b.vertices) for b in bodies)])
    own = [slice(a, b) for a, b in pairwise(ends)]
    faces = np.concatenate([b.faces + a for b, a in zip(bodies, ends)])
    still = np.concatenate([b.vertices for b in bodies])
    frames, n = [np.concatenate([x, still]) for x in cloth], len(cloth[0])
    found = np.isin(np.arange(len(frames[0])), framed_vertices(frames, n, faces, own))
    parts = [found[n:][s] for s in own]
    assert found[:n].all() and all(p.all() or not p.any() for p in parts)  # bodies are whole
    return [b.name for b, p in zip(bodies, parts) if p.all()]


def test_a_person_is_framed_and_scenery_is_not():
    person = capsule(**PERSON, name="person")
    floors = [plate(1.5, 1.5, name="small floor"), plate(60, 60, size=20, name="large floor")]
    thick = box((1.5, 0.1, 1.5), name="thick floor")
    wall = box((2, 2, 0.1), name="wall")
    planet = sphere(30, size=10, name="planet")
    assert framed([SKIRT], person, *floors, thick, wall, planet) == ["person"]


def test_a_small_cloth_is_not_made_a_dot():
    """A glove of 20 cm is framed without the person; one body does not exclude another."""
    person, ball = capsule(**PERSON, name="person"), sphere(0.1, name="ball")
    glove = 0.33 * (SKIRT - SKIRT.mean(0))
    assert framed([glove], person, ball) == ["ball"]
    # Cloth that is crumpled later is as large as it was.
    assert framed([SKIRT, glove], person, ball) == ["person", "ball"]
    # What is far from the cloth in one frame is not in the shot.
    assert framed([SKIRT, SKIRT + [9, 0, 0]], person) == []


def test_pictures_hold_the_person_unless_told_otherwise():
    mesh, x = upright(9, 0.6)
    body = capsule(**PERSON)
    every = np.concatenate([x, body.vertices])

    def outside(**style):
        r = Renderer(mesh, [every], Style(**SMALL, **style), body_faces=body.faces)
        p = r.camera.project(body.vertices, 320, 180)
        return bool(((p[:, :2] < 0) | (p[:, :2] > [320, 180])).any())

    assert not outside() and not outside(whole=True) and outside(whole=False)


def test_pages_hold_the_bodies_of_the_shot(seen):
    """The ball below the cloths, which moves, but not the box, which is flat."""
    for about in (follow(seen.path).describe(), content_of(seen).about):
        low, high = np.array(about["box"])
        cloth = np.concatenate([seen.positions(k) for k in range(len(seen))])
        assert low[1] == pytest.approx(-0.082 - 0.08, abs=2e-3)
        assert (low <= cloth.min(0) + 1e-3).all() and (high >= cloth.max(0) - 1e-3).all()
        assert (high - low).max() < 0.5  # the box has 1 m
