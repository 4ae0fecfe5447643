"""Starts that intersect or are too near: untangled, and what cannot be."""

import numpy as np
import pytest
from typer.testing import CliRunner

import weft
from tests.refusals import refused
from weft.base.errors import SceneError
from weft.bodies.motion.pins import Pin
from weft.cli.commands import app
from weft.contact import intersections, plate, sphere
from weft.contact.contact import Contact
from weft.contact.settings import SelfContact
from weft.contact.untangling import crossings_of, remove_intersections
from weft.io import read_surface
from weft.run.check_scene import check
from weft.scene.build import load_scene
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
    with refused(SceneError, "cloth at the start", hint="resolve: true"):
        prepare(Scene(cloth, contact=SelfContact(4e-3)))
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


def test_too_near_is_spread():
    """No intersection, but nearer than the thickness."""
    cloth = weft.sheet(9, 9, 0.2, 0.2).move((0, 1e-4, 0))
    contact = SelfContact(2e-3, thickness=1e-3, resolve=True)
    scene = Scene(cloth, bodies=[plate(0.5, 0.5)], contact=contact)
    assert prepare(scene).state.x[:, 1].min() > 1e-3 and untangled_start(scene).crossing == 0


def test_what_cannot_be_untangled(tmp_path):
    """A sheet held above and below another one that is pinned; and a scene file that can be."""
    lower = weft.sheet(5, 5, 0.2, 0.2)
    through = weft.sheet(5, 5, 0.2, 0.2).move((0.01, 0.003, 0.013), (70, 0, 0))
    cloth = weft.join([lower, through])
    ends = [through.border("top") + 25, through.border("bottom") + 25]  # on either side
    pins = [Pin(np.concatenate([np.arange(25), *ends]))]
    with refused(SceneError, "contact.resolve", got="pairs of faces still intersect, 14 before"):
        prepare(Scene(cloth, pins, contact=SelfContact(4e-3, resolve=True)))
    path = tmp_path / "scene.yaml"
    path.write_text(
        "cloths: [{sheet: {nx: 9, ny: 9, width: 0.2, height: 0.2}},\n"
        "  {sheet: {nx: 9, ny: 9, width: 0.2, height: 0.2}, translation: [0.01, 0.003, 0.02],\n"
        "   rotation: [2, 30, 0]}]\n"
        "contact: {gap: 4 mm, resolve: true}\n"
    )
    assert any("untangled" in fact for fact in check(path).facts), check(path).errors
    scene = load_scene(path).scene
    assert len(intersections(prepare(scene).state.x, scene.cloth.faces)) == 0


def test_nothing_to_do():
    cloth = weft.sheet(5, 5, 0.2, 0.2)
    contact = Contact.of(cloth.mesh, cloth.mass, SelfContact(2e-3))
    x, left = remove_intersections(contact, cloth.vertices, np.ones(25, dtype=bool))
    assert len(left) == 0
    np.testing.assert_array_equal(x, cloth.vertices)


def test_check_shows_crossings_pair_by_pair(tmp_path):
    """Cloth through a body: names, faces and places; a picture; an OBJ of the faces."""
    path = tmp_path / "scene.yaml"
    path.write_text(
        "cloth: {name: cape, sheet: {nx: 9, ny: 9, width: 0.4, height: 0.4}}\n"
        "contact: {gap: 4 mm}\n"
        "bodies: [{name: ball, sphere: {radius: 0.1, size: 0.05}}]\n"
    )
    result = CliRunner().invoke(app, ["check", str(path)])
    assert result.exit_code == 1 and "cannot resolve by itself" in result.output
    assert "resolve: true" not in result.output, "no advice that fails"
    assert result.output.count("cape face") >= 10 and "ball face" in result.output
    assert (tmp_path / "scene.check.png").exists()
    written = read_surface(tmp_path / "scene.check.obj")[1]
    assert len(written) > 10


def test_a_search_that_does_not_get_on_ends_early(monkeypatch):
    """Two sheets deep in each other: pairs hardly become fewer, and 400 rounds are not taken."""
    rounds, crossings = [], Contact.crossings
    monkeypatch.setattr(Contact, "crossings", lambda *given: rounds.append(0) or crossings(*given))
    lower = weft.sheet(13, 13, 0.2, 0.2)
    cloth = weft.join([lower, lower.move((0.01, 0.003, 0.02), (60, 0, 3))])
    with refused(SceneError, "contact.resolve"):
        prepare(Scene(cloth, contact=SelfContact(2e-3, resolve=True)))
    assert len(rounds) < 150
