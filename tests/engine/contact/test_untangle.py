"""Starts that intersect or are too near: untangled, and what cannot be."""

import numpy as np
import pytest

import weft
from tests.command import call_weft
from tests.refusals import refused
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Pin
from weft.contact import intersections, sphere
from weft.contact.settings import SelfContact
from weft.contact.untangling import crossings_of
from weft.scene.prepare import prepare, untangled_start
from weft.scene.scene import Scene


def bumped(depth=4e-3):
    """A sheet below whose middle pokes through the one above by ``depth``."""
    lower, upper = weft.sheet(13, 13, 0.3, 0.3), weft.sheet(11, 11, 0.25, 0.25)
    x = np.array(lower.vertices)
    x[:, 1] += (5e-3 + depth) * np.exp(-(x[:, 0] ** 2 + x[:, 2] ** 2) / 0.04**2)
    upper = upper.move((0.006, 5e-3, 0.003), (0, 12, 0))
    return weft.join([lower.with_points(x), upper])


def test_contours_get_shorter_along_d():
    """D is minus the gradient of the contour's length: of two triangles, by finite differences."""
    x = np.array(
        [[0.0, 0, 0], [1, 0, 0], [0, 0, 1], [0.2, -0.3, 0.2], [0.4, 0.5, 0.3], [0.1, 0.6, 0.6]]
    )
    faces = np.array([[0, 1, 2], [3, 4, 5]], dtype=np.int32)
    found = crossings_of(x, faces, np.array([[0, 1]]))
    assert len(found.edge) == 2  # both through the first face

    def length(y):
        f = crossings_of(y, faces, np.array([[0, 1]]))
        p = y[f.edge[:, 0]] * (1 - f.along[:, None]) + y[f.edge[:, 1]] * f.along[:, None]
        return np.linalg.norm(p[1] - p[0])

    for k in range(2):
        # Moving the whole face against D, by little, shortens the contour at this end.
        step = 1e-6 * found.direction[k]
        w = np.zeros(6)
        w[found.edge[k]] = 1 - found.along[k], found.along[k]
        moved = x + w[:, None] * step / (w**2).sum()
        assert length(moved) < length(x)


@pytest.mark.exact_start  # counts vertices that are not where they were
def test_small_intersections_are_untangled(tmp_path):
    cloth = bumped()
    assert len(intersections(cloth.vertices, cloth.faces)) > 10
    scene = Scene(cloth, contact=SelfContact(4e-3, thickness=1e-3, resolve=True))
    x = prepare(scene).state.x
    assert len(intersections(x, cloth.faces)) == 0
    model = prepare(scene).model
    assert model.contact.least_distance(x) > 1e-3
    assert untangled_start(scene).crossing > 10 and 0 < untangled_start(scene).moved < len(x)
    assert untangled_start(scene).farthest < 0.02
    done = weft.simulate(scene, frames=2, fps=50, out=tmp_path / "run", progress=False)
    assert [m["intersections"] for m in done.metrics] == [0, 0]
    assert done.manifest["resolved"] == str(untangled_start(scene))


def test_out_of_a_body_and_pins_stay():
    """A sheet that a sphere pokes through at the top; a pinned corner does not move."""
    cloth = weft.sheet(21, 21, 0.4, 0.4).move((0.003, 0.097, 0.002))
    ball = sphere(0.1, 0.03)
    contact = SelfContact(5e-3, resolve=True)
    scene = Scene(cloth, [Pin(cloth.corners())], bodies=[ball], contact=contact)
    x = prepare(scene).state.x
    model = prepare(scene).model
    assert len(model.contact.crossings(x)) == 0 and untangled_start(scene).crossing > 0
    np.testing.assert_array_equal(x[cloth.corners()], cloth.vertices[cloth.corners()])
    middle = np.hypot(x[:, 0], x[:, 2]) < 0.01
    assert np.linalg.norm(x[middle], axis=1).min() > 0.0985  # out by the short way


def test_what_cannot_be_untangled():
    """A sheet held above and below another one that is pinned."""
    lower = weft.sheet(5, 5, 0.2, 0.2)
    through = weft.sheet(5, 5, 0.2, 0.2).move((0.01, 0.003, 0.013), (70, 0, 0))
    cloth = weft.join([lower, through])
    ends = [through.border("top") + 25, through.border("bottom") + 25]  # on either side
    pins = [Pin(np.concatenate([np.arange(25), *ends]))]
    with refused(SceneError, "contact.resolve", got="pairs of faces still intersect, 14 before"):
        prepare(Scene(cloth, pins, contact=SelfContact(4e-3, resolve=True)))


def test_a_run_tells_what_was_untangled(tmp_path, monkeypatch, capsys):
    """And a start that is refused names the option that untangles it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(
        "cloth: {sheet: {nx: 5, ny: 5}, translation: [0, 45 mm, 0]}\n"
        "contact: {gap: 1 mm}\nbodies: [{sphere: {radius: 5 cm}}]\n"
    )
    refuse = call_weft(monkeypatch, capsys, "run", "s.yaml", "--frames", "0")
    assert refuse[0] == 2 and "`--set contact.resolve=true`" in " ".join(refuse[2].split())
    option = ["--set", "contact.resolve=true"]
    status, out, err = call_weft(monkeypatch, capsys, "run", "s.yaml", "--frames", "0", *option)
    assert status == 0, err
    assert "start    untangled" in out
