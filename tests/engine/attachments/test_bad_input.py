"""What cannot be attached: a named error with its line, what was found, and what to do."""

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import SceneError, WeftError
from weft.scene.build import load_scene
from weft.scene.prepare import prepare

SHEET = "cloth: {sheet: {nx: 5, ny: 5}}\n"
BALL = "bodies: [{name: ball, sphere: {radius: 20 cm}, translation: [0, 23 cm, 0]}]\n"


def load(tmp_path, block, more="", bodies=BALL):
    path = tmp_path / "scene.yaml"
    path.write_text(SHEET + bodies + more + "attachments:\n  - {" + block + "}\n")
    return load_scene(path)


@pytest.mark.parametrize(
    "block, match",
    [
        ("kind: glue, border: top", ("kind", "'glue'", "scene.yaml:4")),
        ("kind: body, body: ball", ("attachments.0", "vertices")),
        ("kind: body, border: top", ("attachments.0", "kind body needs body")),
        ("kind: body, vertices: [12], body: bal", ("body", "'bal'", "'ball'")),
        (
            "kind: body, border: top, body: ball",
            ("attachments.0.within", "ball", "0.05 m", "`within"),
        ),
        ("kind: body, vertices: [12], body: ball, length: 3 cm", ("attachments.0", "length")),
        ("kind: body, vertices: [99], body: ball", ("vertices", 99, "0 to 24")),
        ("kind: body, vertices: [12], body: ball, stiffness: 3 kg", r"stiffness"),
        ("kind: rope, vertices: [0]", ("attachments.0.to, body, at", "none")),
        (
            "kind: rope, vertices: [0], at: [0, 1, 0], to: {vertices: [3]}",
            ("attachments.0.to, body, at", "points"),
        ),
        (
            "kind: rope, vertices: [0], at: [-0.5, 1, 0.5], length: 60 cm",
            ("length", "0.6 m, of vertex 0", "1 m"),
        ),
        ("kind: rope, vertices: [0], to: {vertices: [0]}", ("to", "0")),
        ("kind: rope, border: top, to: {corners: bottom}", ("to", "2 vertices for 5")),
        (
            "kind: rope, vertices: [0], body: ball, path: {keyframes: [{time: 9}]}",
            ("path", "`at`"),
        ),
        ("kind: spring, vertices: [0], at: [0, 1, 0]", ("attachments.0", "stiffness")),
        (
            "kind: cloth, border: top, to: {border: bottom}",
            ("within", "1 m", "0.05 m", "closing: 1 s"),
        ),
        ("kind: slide, border: top", ("attachments.0", "along")),
        ("kind: slide, border: top, along: [[0, 0, 0], [0, 0, 0]]", ("along", "0 and 1")),
        ("kind: slide, border: top, every: 0, along: [[0, 0, 0], [1, 0, 0]]", ("every", "1")),
        ("kind: rope, vertices: [], at: [0, 1, 0]", ("vertices", "nothing")),
        (
            "kind: slide, border: top, along: [[-1, 0, -0.5], [1, 0, -0.5]], spacing: 30 cm",
            ("spacing", "0.25 m", "0.3 m"),
        ),
        ("kind: body, vertices: [12], body: ball, release: {force: 0}", ("release.force", "0")),
        (
            "kind: body, vertices: [12], body: ball, relaese: {at: 1 s}",
            ("field attachments.0.relaese", "'release'"),
        ),
        ("kind: body, vertices: [12], body: ball, name: gravity", ("name", "'gravity'")),
    ],
)
def test_named_errors(tmp_path, block, match):
    with refused(WeftError, match) as caught:
        load(tmp_path, block)
    assert "scene.yaml:" in str(caught.value)


def test_equilibria_refuse_releases_that_they_cannot_keep(tmp_path):
    held = "kind: body, vertices: [12], body: ball, release: {force: 1 N}"
    with refused(SceneError, "release", got="quasi_static", expected="backward_euler"):
        load(tmp_path, held, "integrator: quasi_static\n")
    load(tmp_path, held.replace("force: 1 N", "at: 1 s"), "integrator: quasi_static\n")


def test_what_would_stretch_cloth_by_half():
    """Two sheets of 1 m, tied border to border, held at their outer borders 3.2 m apart."""
    cloth = weft.join([weft.sheet(5, 5), weft.sheet(5, 5).move((2.2, 0, 0))], names=["one", "two"])
    a, b = (cloth.part(name) for name in ("one", "two"))
    pins = [weft.Pin(cloth.border("left", a), name="wall"), weft.Pin(cloth.border("right", b))]
    tied = weft.AttachCloth(cloth.border("right", a), cloth.border("left", b), closing=1.0)
    with refused(SceneError, "wall and pin", got="3.2 m", expected="60 %"):
        prepare(weft.Scene(cloth, pins, attachments=[tied]))


def test_what_is_not_an_attachment():
    cloth = weft.sheet(3, 3)
    with refused(SceneError, "attachments", got="dict", expected="AttachToBody"):
        weft.Scene(cloth, attachments=[{"kind": "rope"}])
    with refused(SceneError, "rope.vertices"):
        weft.Rope([0.5], at=(0, 1, 0))
    with refused(SceneError, "release", expected="Release"):
        weft.Rope([0], at=(0, 1, 0), release=3.0)
    with refused(SceneError, "scene.attachments 1.name"):
        twice = [weft.Rope([0], at=(0, 1, 0), name="a"), weft.Rope([1], at=(0, 1, 0), name="a")]
        prepare(weft.Scene(cloth, attachments=twice))


def test_files_pair_and_take_every_so_many(tmp_path):
    """Ids in order; other selections with the least distances; rings in the order of the pole."""
    made = load(tmp_path, "kind: rope, vertices: [3, 1], to: {vertices: [20, 22]}, length: 3")
    assert made.scene.attachments[0].to.tolist() == [20, 22]
    made = load(tmp_path, "kind: rope, border: left, to: {border: right}, length: 3 m")
    (rope,) = made.scene.attachments
    x = made.scene.cloth.vertices
    np.testing.assert_allclose(x[rope.vertices][:, 2], x[rope.to][:, 2])
    made = load(
        tmp_path,
        "kind: slide, border: top, along: [[1, 0, -0.5], [-1, 0, -0.5]], "
        "every: 2, radius: 1 cm, release: {at: 1 s}",
    )
    (rings,) = made.scene.attachments
    np.testing.assert_allclose(x[rings.vertices][:, 0], [0.5, 0, -0.5])
    assert rings.radius == 0.01 and rings.release == weft.Release(at=1.0)
    assert rings.name == "attachments.0"
