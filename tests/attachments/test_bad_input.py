"""What cannot be attached: a named error with its line, what was found, and what to do."""

import numpy as np
import pytest

import weft
from weft.base.errors import SceneError, WeftError
from weft.scene.build import load_scene

SHEET = "cloth: {sheet: {nx: 5, ny: 5}}\n"
BALL = "bodies: [{name: ball, sphere: {radius: 20 cm}, translation: [0, 23 cm, 0]}]\n"


def load(tmp_path, block, more="", bodies=BALL):
    path = tmp_path / "scene.yaml"
    path.write_text(SHEET + bodies + more + "attachments:\n  - {" + block + "}\n")
    return load_scene(path)


@pytest.mark.parametrize(
    "block, match",
    [
        ("kind: glue, border: top", r"kind.*glue.*yaml:4.*body"),
        ("kind: body, body: ball", r"select vertices"),
        ("kind: body, border: top", r"kind body needs body"),
        ("kind: body, vertices: [12], body: bal", r"body.*'bal'.*did you mean 'ball'"),
        (
            "kind: body, border: top, body: ball",
            r"within.*vertex \d+ at 0\.\d+ m from ball.*at most 0\.05 m.*say `within",
        ),
        ("kind: body, vertices: [12], body: ball, length: 3 cm", r"length is none of kind body"),
        ("kind: body, vertices: [99], body: ball", r"vertices.*99.*0 to 24"),
        ("kind: body, vertices: [12], body: ball, stiffness: -1", r"stiffness.*must be > 0"),
        ("kind: body, vertices: [12], body: ball, stiffness: 3 kg", r"stiffness"),
        ("kind: rope, vertices: [0]", r"none of them.*one other end"),
        (
            "kind: rope, vertices: [0], at: [0, 1, 0], to: {vertices: [3]}",
            r"points of the cloth and another",
        ),
        (
            "kind: rope, vertices: [0], at: [-0.5, 1, 0.5], length: 60 cm",
            r"length.*0\.6 m, of vertex 0.*at least the distance at the start, 1 m.*a longer rope",
        ),
        ("kind: rope, vertices: [0], to: {vertices: [0]}", r"to.*vertex 0 twice"),
        ("kind: rope, vertices: [0, 1, 2], to: {vertices: [3, 4]}", r"to.*2 vertices.*3, or one"),
        ("kind: rope, border: top, to: {corners: bottom}", r"to.*2 vertices for 5"),
        (
            "kind: rope, vertices: [0], at: [0, 1, 0], path: {keyframes: [{time: 0}]}",
            r"path.*keyframe at 0 s.*2 s or later",
        ),
        (
            "kind: rope, vertices: [0], body: ball, path: {keyframes: [{time: 9}]}",
            r"path.*but with a place",
        ),
        ("kind: spring, vertices: [0], at: [0, 1, 0]", r"kind spring needs stiffness"),
        (
            "kind: spring, vertices: [0], at: [-0.5, 0, 0.5], stiffness: 1, length: 1 cm",
            r"length.*vertex 0.*0 where both ends start at one place",
        ),
        ("kind: spring, vertices: [0], at: [.nan, 0, 0], stiffness: 1", r"at"),
        (
            "kind: cloth, border: top, to: {border: bottom}",
            r"within.*1 m apart.*at most 0\.05 m.*closing: 1 s",
        ),
        ("kind: cloth, border: top", r"kind cloth needs to"),
        ("kind: slide, border: top", r"kind slide needs along"),
        ("kind: slide, border: top, along: [[0, 0, 0]]", r"along.*(two or more|shape)"),
        ("kind: slide, border: top, along: [[0, 0, 0], [0, 0, 0]]", r"along.*0 and 1 at one place"),
        ("kind: slide, border: top, every: 2, along: [[0, 0, 0], [0, 0, 0]]", r"at one place"),
        ("kind: slide, border: top, along: []", r"along.*(two or more|shape)"),
        ("kind: slide, border: top, every: 0, along: [[0, 0, 0], [1, 0, 0]]", r"every.*>= 1"),
        ("kind: rope, vertices: [], at: [0, 1, 0]", r"vertices.*nothing.*at least one"),
        (
            "kind: slide, border: top, along: [[-1, 0, 0], [1, 0, 0]]",
            r"within.*0\.5 m from where its ring.*start the cloth at the rail",
        ),
        (
            "kind: slide, border: top, along: [[-1, 0, -0.5], [1, 0, -0.5]], spacing: 30 cm",
            r"spacing.*vertices \d+ and \d+, 0\.25 m apart.*0\.3 m or more",
        ),
        (
            "kind: slide, border: top, along: [[-1, 0, -0.5], [1, 0, -0.5]], friction: -1",
            r"friction.*must be >= 0",
        ),
        (
            "kind: slide, border: top, along: [[-1, 0, -0.5], [1, 0, -0.5]], body: ball, "
            "path: {keyframes: [{time: 9}]}",
            r"path.*one of the two",
        ),
        ("kind: body, vertices: [12], body: ball, release: {force: 0}", r"force.*must be > 0"),
        ("kind: body, vertices: [12], body: ball, release: {at: -1 s}", r"at.*must be >= 0"),
        ("kind: body, vertices: [12], body: ball, relaese: {at: 1 s}", r"did you mean 'release'"),
        ("kind: body, vertices: [12], body: ball, name: gravity", r"name.*'gravity'.*no other"),
    ],
)
def test_named_errors(tmp_path, block, match):
    with pytest.raises(WeftError, match=f"(?s){match}") as caught:
        load(tmp_path, block)
    assert "scene.yaml:" in str(caught.value)


def test_a_body_where_there_is_none(tmp_path):
    with pytest.raises(SceneError, match=r"attachments\.0\.body"):
        load(tmp_path, "kind: body, vertices: [12], body: ball", bodies="")


def test_equilibria_refuse_releases_that_they_cannot_keep(tmp_path):
    held = "kind: body, vertices: [12], body: ball, release: {force: 1 N}"
    with pytest.raises(SceneError, match=r"release.*quasi_static.*backward_euler"):
        load(tmp_path, held, "integrator: quasi_static\n")
    load(tmp_path, held.replace("force: 1 N", "at: 1 s"), "integrator: quasi_static\n")


@pytest.mark.parametrize("apart, fits", [(2.9, True), (3.2, False)])
def test_what_would_stretch_cloth_by_half(apart, fits):
    """Two sheets of 1 m, tied border to border, held at their outer borders 2.9 and 3.2 m apart."""
    one = weft.sheet(5, 5)
    two = weft.sheet(5, 5).moved((apart - 1, 0, 0))
    cloth = weft.joined([one, two], names=["one", "two"])
    a, b = (cloth.part(name) for name in ("one", "two"))
    pins = [weft.Pin(cloth.border("left", a), name="wall"), weft.Pin(cloth.border("right", b))]
    tied = weft.AttachCloth(cloth.border("right", a), cloth.border("left", b), closing=1.0)
    scene = weft.Scene(cloth, pins, attachments=[tied])
    if fits:
        scene.model()
        return
    with pytest.raises(SceneError, match=r"wall and pin.*3\.2 m apart, with 2 m.*not by 60 %"):
        scene.model()


def test_what_is_not_an_attachment():
    cloth = weft.sheet(3, 3)
    with pytest.raises(SceneError, match=r"attachments.*dict.*AttachToBody.*Slide"):
        weft.Scene(cloth, attachments=[{"kind": "rope"}])
    for ids in ([], [0.5], [[0, 1]]):
        with pytest.raises(SceneError, match=r"rope\.vertices.*(vertices|whole|shape)"):
            weft.Rope(ids, at=(0, 1, 0))
    with pytest.raises(SceneError, match=r"release.*a Release"):
        weft.Rope([0], at=(0, 1, 0), release=3.0)
    with pytest.raises(SceneError, match=r"rope\.at"):
        weft.Rope([0], at=(0, np.inf, 0))
    with pytest.raises(SceneError, match=r"scene\.attachments 1\.name"):
        twice = [weft.Rope([0], at=(0, 1, 0), name="a"), weft.Rope([1], at=(0, 1, 0), name="a")]
        weft.Scene(cloth, attachments=twice).model()


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


def test_explained():
    """Every number of every kind is in `weft explain`, with its unit and whose it is."""
    from weft.scene.explain import explain

    _, lines = explain("scene.attachments")
    said = {line.path.rsplit(".", 1)[-1]: line.meaning for line in lines}
    assert said["radius"].startswith("[m] kind slide: ")
    assert "kind spring: per point" in said["stiffness"] and "100 times" in said["stiffness"]
    for kind in (weft.AttachToBody, weft.AttachCloth, weft.Rope, weft.Spring, weft.Slide):
        fields = {f for f in kind.__dataclass_fields__ if f != "_"}
        assert fields <= said.keys()
    assert weft.Rope.__doc__.count("[m]") >= 2
    ropes = [weft.Rope([k], at=(0, 1, 0), name=f"rope {k}") for k in range(2)]
    assert "2 attachments" in repr(weft.Scene(weft.sheet(3, 3), attachments=ropes))
