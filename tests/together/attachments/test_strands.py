"""Ropes and springs in frames, pictures and exports: where they end, and what they look like."""

import dataclasses

import numpy as np
import pytest

import weft
from weft.base.keyframes import Keys
from weft.bodies.joints.settings import Joint
from weft.bodies.motion.pins import Keyframe, Path
from weft.bodies.rigid.settings import Rigid
from weft.contact import box
from weft.energies.springs.release import Release
from weft.run.animation import STRANDS, build_animation
from weft.run.strands import AROUND, Tubes
from weft.show.viewer.page import content_of

STEP = 0.01


def scene(make=weft.sheet):
    """A sheet on ropes and a spring, a box on a spring; one rope lets go, one is wound in."""
    spring = Joint("spring", stiffness=20.0, at=(0.0, 0.4, 0.5), point=(0.02, 0.05, 0.5))
    rigid = Rigid(mass=0.2, joints=[spring])
    body = dataclasses.replace(box((0.1, 0.1, 0.1), 0.1, "one").move((0, 0, 0.5)), rigid=rigid)
    cloth = make(5, 5, 0.4, 0.4, fabric="cotton").move((0, 0.1, 0), (90, 0, 0))
    a, b, c, d = (cloth.corners(f"{w}-{h}") for w in ("top", "bottom") for h in ("left", "right"))
    path = Path([Keyframe(0.0), Keyframe(1.0, (0.1, 0.0, 0.0))], hold=True)
    held = [
        weft.Rope(a, at=(-0.2, 0.6, 0.0), path=path),
        weft.Spring(b, to=d, stiffness=10.0),
        weft.Rope(c, at=(-0.6, 0.3, 0.0), length=1.0, release=Release(at=0.05)),
        weft.Rope(d, body="one", length=1.0),
    ]
    keyed = {"attachments.3.length": Keys([(0, 1.0), (0.1, 0.8)])}
    pins = [weft.Pin(cloth.border("top"))]
    return weft.Scene(cloth, pins, bodies=[body], step=STEP, attachments=held, keyed=keyed)


@pytest.mark.parametrize("make", [weft.sheet, weft.spline_sheet])
def test_frames_have_the_ends_of_what_holds(make, tmp_path):
    made = scene(make)
    run = weft.simulate(made, frames=2, fps=20, out=tmp_path / "a", progress=False)
    for frame, t in ((0, 0.0), (2, 0.1)):
        ends, lengths, kinds = run.strands(frame)
        assert list(kinds) == [2.0, 1.0, 2.0, float(t == 0), 1.0]
        y = run.positions(frame)
        corners = [made.attachments[k].vertices[0] for k in range(4)]
        np.testing.assert_allclose(ends[1:, 0], y[corners], atol=1e-12)
        np.testing.assert_allclose(ends[0, 1], [0.0, 0.4, 0.5], atol=1e-12)
        np.testing.assert_allclose(ends[1, 1], [-0.2 + 0.1 * t, 0.6, 0.0], atol=1e-12)
        np.testing.assert_allclose(ends[2, 1], y[made.attachments[1].to[0]], atol=1e-12)
        body = run.body_positions(frame)
        assert (body.min(0) - 1e-9 <= ends[4, 1]).all() and (ends[4, 1] <= body.max(0) + 1e-9).all()
        assert lengths[4] == pytest.approx(1.0 - 2 * t)
    solid = run.solid_positions(2)
    assert len(solid) == run.solid_faces.max() + 1 > len(run.body_positions(2))
    np.testing.assert_array_equal(run.solid_faces[: len(run.body_faces)], run.body_faces)


def test_exports_and_pages_have_them_as_a_surface(tmp_path):
    run = weft.simulate(scene(), frames=1, fps=20, out=tmp_path / "a", progress=False)
    animation = build_animation(run)
    assert [s.name for s in animation.shapes] == ["cloth", "one", STRANDS]
    box_there, tubes = animation.moment(1).positions[1:]
    assert len(tubes) == animation.shapes[2].faces.max() + 1
    np.testing.assert_array_equal(box_there, run.body_positions(1))
    content = content_of(run)
    assert content.about["bodies"] == ["one", STRANDS] and not content.about["bodies_still"]


def middles(kind, far, length):
    """(k,3) the middle line of the tube of one that ends at 0 and on the axis x, and its vertices.

    Kinds: 0 has let go, 1 is a rope, 2 is a spring.
    """
    ends, kinds = np.array([[[0, 0, 0], [far, 0.0, 0]]]), np.array([kind])
    tube = Tubes(1, 0.01).positions(ends, np.array([length]), kinds)
    return tube.reshape(-1, AROUND, 3).mean(1), tube


@pytest.mark.parametrize("far, length", [(0.5, 0.55), (0.5, 1.0), (0.01, 1.0)])
def test_a_slack_rope_is_about_as_long_as_it_is(far, length):
    line, _ = middles(1, far, length)
    way = np.linalg.norm(np.diff(line, axis=0), axis=1).sum()
    assert way == pytest.approx(length, rel=0.08)


def test_tubes():
    """A taut rope is a cylinder; a spring winds; what has let go is a point."""
    _, taut = middles(1, 1.0, 1.0)
    np.testing.assert_allclose(np.linalg.norm(taut[:, 1:], axis=1), 0.01, atol=1e-12)
    coil, _ = middles(2, 1.0, 1.0)
    np.testing.assert_allclose(coil[[0, -1]], [[0, 0, 0], [1, 0, 0]], atol=1e-9)
    assert 0.03 < np.linalg.norm(coil[:, 1:], axis=1).max() < 0.04
    _, gone = middles(0, 1.0, 1.0)
    np.testing.assert_array_equal(gone, np.broadcast_to([1.0, 0, 0], gone.shape))
