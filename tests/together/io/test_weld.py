"""Vertices that coincide in a file become one: cloth, bodies, their rest shapes and maps."""

import warnings

import numpy as np
import pytest

import weft
from tests.refusals import refused
from weft.base.errors import MeshError, SceneError
from weft.contact import Body, box, load_body
from weft.discretization.mesh import grid
from weft.io.obj import write_obj
from weft.io.ply import write_ply
from weft.scene.build import load_scene
from weft.scene.prepare import prepare

pytestmark = pytest.mark.quick

HALF = grid(3, 5, 0.2, 0.4)
X = np.concatenate([HALF.vertices, HALF.vertices + [0.2, 0, 0]])
FACES = np.concatenate([HALF.faces, HALF.faces + 15])
UV = np.concatenate([HALF.corner_uv, HALF.corner_uv + [0.7, 0.0]])  # another island
SEAM = [(2 + 3 * k, 15 + 3 * k) for k in range(5)]
WHOLE = len(grid(5, 5, 0.4, 0.4).hinges)


def write(path, x=X, uv=UV, groups=True):
    write_obj(path, x, FACES, uv)
    if groups:
        lines = path.read_text().splitlines()
        first = next(k for k, line in enumerate(lines) if line.startswith("f "))
        lines.insert(first, "g one")
        lines.insert(first + 1 + len(HALF.faces), "g two")
        path.write_text("\n".join(lines) + "\n")
    return path


def scene_of(tmp_path, mesh, more=""):
    path = tmp_path / "scene.yaml"
    path.write_text(f"cloth: {{mesh: {{file: {mesh}}}, {more}}}\n")
    return path


def test_cloth_is_connected_on_request(tmp_path):
    path = write(tmp_path / "a.obj")
    with pytest.warns(UserWarning, match="10 vertices coincide at 5 places"):
        prepare(weft.Scene(weft.load(path)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cloth = weft.load(path, weld=True)
        prepare(weft.Scene(cloth))
    mesh = cloth.mesh
    assert mesh.n_vertices == 25 and len(mesh.hinges) == WHOLE
    np.testing.assert_allclose(mesh.corner_uv, UV, atol=1e-12)
    assert len(mesh.groups["one"]) == len(mesh.groups["two"]) == 15
    assert len(np.intersect1d(mesh.groups["one"], mesh.groups["two"])) == 5
    assert len(mesh.regions["two"]) == 16
    assert cloth.mass.sum() == pytest.approx(weft.load(path).mass.sum())


def test_a_distance_joins_what_is_near(tmp_path):
    x = X + np.random.default_rng(0).uniform(-1e-4, 1e-4, X.shape)
    path = write(tmp_path / "a.obj", x)
    assert weft.load(path, weld=True).n_vertices == 30
    assert weft.load(path, weld="1 mm").n_vertices == 25
    assert load_scene(scene_of(tmp_path, "a.obj, weld: 1 mm")).scene.cloth.n_vertices == 25
    with refused(MeshError, "weld", expected="less than the edges"):
        weft.load(path, weld="20 cm")


def test_faces_that_collapse_are_left_out(tmp_path):
    """A quad of which two corners are at one place, as exporters write poles."""
    path = tmp_path / "a.obj"
    path.write_text(
        "v 0 0 0\nv 1 0 0\nv 1 0 1\nv 0 0 1\nv 0.5 0 2\nv 0.5 0 2\nf 1 2 3 4\nf 4 3 5 6\n"
    )
    cloth = weft.load(path, warp=(1, 0, 0), weld=True)
    assert len(cloth.faces) == 3 and cloth.n_vertices == 5
    assert cloth.mesh.rest_area.sum() == pytest.approx(1.5)


def ply_by_vertex(path, names=("s", "t")):
    """A PLY with texture coordinates by vertex: what exporters split seams for."""
    uv = np.zeros((30, 2))
    uv[FACES.reshape(-1)] = UV.reshape(-1, 2)
    head = "ply\nformat ascii 1.0\nelement vertex 30\n"
    head += "".join(f"property double {n}\n" for n in ("x", "y", "z", *names, "hold"))
    head += f"element face {len(FACES)}\nproperty list uchar int vertex_indices\nend_header\n"
    rows = np.column_stack([X, uv, np.arange(30) % 3 == 0])
    lines = [" ".join(map(repr, row)) for row in rows.tolist()]
    lines += [f"3 {a} {b} {c}" for a, b, c in FACES.tolist()]
    path.write_text(head + "\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize("names", [("s", "t"), ("u", "v"), ("texture_u", "texture_v")])
def test_ply_with_coordinates_by_vertex_is_joined(tmp_path, names):
    """It keeps its texture coordinates, and ``weld: false`` leaves it as it is."""
    path = ply_by_vertex(tmp_path / "a.ply", names)
    mesh = weft.load(path).mesh
    assert mesh.n_vertices == 25 and len(mesh.hinges) == WHOLE
    np.testing.assert_allclose(mesh.corner_uv, UV, atol=1e-12)
    assert mesh.weights["hold"].shape == (25,)
    assert weft.load(path, weld=False).n_vertices == 30


def test_ply_with_coordinates_by_corner_is_left_as_it_is(tmp_path):
    write_ply(tmp_path / "a.ply", X, FACES, UV)
    assert weft.load(tmp_path / "a.ply").n_vertices == 30
    assert weft.load(tmp_path / "a.ply", weld=True).n_vertices == 25


def test_the_rest_shape_may_be_apart(tmp_path):
    """Of another file of the same vertices: flat pieces, whose seams are open there."""
    write(tmp_path / "a.obj")
    apart = np.concatenate([1.25 * HALF.vertices, HALF.vertices + [9, 0, 0]])
    write(tmp_path / "rest.obj", apart)
    cloth = weft.load(tmp_path / "a.obj", weld=True, rest=tmp_path / "rest.obj", warp=(1, 0, 0))
    assert cloth.n_vertices == 25
    assert cloth.mesh.rest_area.sum() == pytest.approx(0.08 * (1.25**2 + 1))


def test_angles_and_maps_are_by_the_vertices_of_the_file(tmp_path):
    write(tmp_path / "a.obj")
    bent = X.copy()
    bent[15:, 1] += bent[15:, 0] - 0.1
    write(tmp_path / "bent.obj", bent)
    np.save(tmp_path / "map.npy", np.arange(30) / 30)
    paint = "rest_shape: bent.obj, paint: {a: map.npy}"
    scene = load_scene(scene_of(tmp_path, "a.obj, weld: true", paint)).scene
    first = [k for k in range(30) if k not in dict(SEAM).values()]
    np.testing.assert_allclose(scene.rest_angles, bent[first])
    np.testing.assert_allclose(scene.cloth.mesh.weights["a"], np.array(first) / 30)
    (bending,) = [e for e in prepare(scene).model.energies if e.name == "bending"]
    assert (np.abs(bending.rest_angle) > 0.7).sum() == 4


def test_mixed_winding_does_not_fold_texture_coordinates(tmp_path):
    """Faces are turned before anything is computed from them; said once."""
    faces, uv = FACES.copy(), UV.copy()
    faces[::3], uv[::3] = faces[::3, ::-1], uv[::3, ::-1]
    write_obj(tmp_path / "a.obj", X, faces, uv)
    with pytest.warns(UserWarning, match="11 of 32 faces .* turned") as said:
        cloth = weft.load(tmp_path / "a.obj", weld=True)
        prepare(weft.Scene(cloth.move((0, 1, 0))))
    assert len(said) == 1
    assert (cloth.mesh.signed_material_area > 0).all()
    assert len(cloth.mesh.hinges) == WHOLE and len(cloth.mesh.one_sided_edges) == 0


def test_the_cure_is_never_resolve(tmp_path):
    write(tmp_path / "a.obj")
    path = scene_of(tmp_path, "a.obj")
    path.write_text(path.read_text() + "contact: {gap: 1 mm}\n")
    with (
        pytest.warns(UserWarning, match="coincide"),
        refused(SceneError, hint="weld: true") as made,
    ):
        load_scene(path)
    assert "resolve" not in str(made.value)


def box_of_faces():
    """A cube of which every side has vertices of its own, as flat shading has them."""
    cube = box((1, 1, 1), 1.0)
    x = cube.vertices[cube.faces].reshape(-1, 3)
    return x, np.arange(len(x), dtype=np.int32).reshape(-1, 3)


def test_bodies(tmp_path):
    x, faces = box_of_faces()
    write_obj(tmp_path / "box.obj", x, faces)
    split = load_body(tmp_path / "box.obj")
    assert "vertices that coincide" in split.flaws[0] and "weld" in split.flaws[0]
    body = load_body(tmp_path / "box.obj", weld=True)
    assert len(body.vertices) == 8 and body.flaws == []
    text = "cloth: {sheet: {}, translation: [0, 2, 0]}\n"
    text += "bodies: [{mesh: {file: box.obj}, rigid: {mass: 1}}]"
    path = tmp_path / "scene.yaml"
    path.write_text(text)
    with refused(SceneError, "bodies.0.rigid", hint="weld: true"):
        load_scene(path)


def test_moving_bodies_are_joined_where_they_stay_together(tmp_path):
    """Lips that touch in the first frame are two."""
    x, faces = box_of_faces()
    later = np.where(x[:, 1:2] > 0, x + [0, 1, 0], x)
    later[faces[0]] += [0, 0, 3]  # this face leaves the others
    np.savez(tmp_path / "a.npz", positions=[x, later], faces=faces, times=[0.0, 1.0])
    path = tmp_path / "scene.yaml"
    path.write_text(
        "cloth: {sheet: {}, translation: [0, 2, 0]}\nseconds: 1\n"
        "bodies: [{mesh: {file: a.npz, weld: true, hold: true}}]"
    )
    (body,) = load_scene(path).scene.bodies
    assert len(body.vertices) == 8 + 3 and body.frames.positions.shape == (2, 11, 3)
    np.testing.assert_allclose(body.at(1.0)[body.faces], later[faces])


def test_bodies_are_turned(tmp_path):
    cube = box((1, 1, 1), 0.5)
    faces = cube.faces.copy()
    faces[::4] = faces[::4, ::-1]
    with pytest.warns(UserWarning, match="crate: 12 of 48 faces .* turned"):
        body = Body(cube.vertices, faces, name="crate")
    assert (body.faces == cube.faces).all()
