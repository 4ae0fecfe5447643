"""Files that must agree: order of vertices, unit and axes, by geometry."""

import warnings

import numpy as np
import pytest

import weft
from tests.engine.io.files import point_cache
from tests.refusals import refused
from weft.base.errors import MeshError, SceneError
from weft.bodies.motion.animated_files import load_cached
from weft.bodies.motion.point_sequence import load_frames
from weft.contact import sphere
from weft.discretization.correspondence import find_mismatch
from weft.discretization.mesh import grid
from weft.energies.state import State
from weft.io.obj import write_obj
from weft.plugins.film.assets.asset_cloths import asset_cloths
from weft.scene.prepare import prepare

BALL = sphere(0.1, 0.06)
X, F = np.array(BALL.vertices) + [0.02, 0.4, 0.05], BALL.faces
CUBE = np.array([[x, y, z] for x in (0.0, 1.0) for y in (2.0, 3.2) for z in (0.0, 1.1)])
SIDES = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
CUBE_FACES = np.array([t for a, b, c, d in SIDES for t in ((a, b, c), (a, c, d))])
Z_UP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # (x, y, z) @ Z_UP = (x, -z, y)


def shuffled(x, rng):
    return x[rng.permutation(len(x))]


def turned(x, degrees, axis=1):
    from scipy.spatial.transform import Rotation

    return x @ Rotation.from_rotvec(np.radians(degrees) * np.eye(3)[axis]).as_matrix().T


@pytest.mark.parametrize(("x", "faces"), [(X, F), (CUBE, CUBE_FACES)], ids=["ball", "cube"])
def test_differences_of_order_unit_and_axes(x, faces, rng):
    bent = x * [1, 1.3, 0.8] + 0.1 * np.sin(9 * x[:, ::-1])
    for other in (x, x + [3, 0, 1], turned(x, 37, 0), turned(x, 180), 1.2 * x, bent):
        assert find_mismatch(x, other, faces) is None
    for other in (shuffled(x, rng), shuffled(x + [0.3, 1, 0], rng), 0.01 * shuffled(x, rng)):
        assert find_mismatch(x, other, faces).kind == "order"
    swapped = x.copy()
    swapped[[0, -1]] = x[[-1, 0]]
    assert find_mismatch(x, swapped, faces).kind == "order"
    for factor in (0.001, 0.01, 0.0254, 0.1, 10, 39.37, 100, 1000):
        for other in (x, turned(x, 37), bent):
            assert find_mismatch(x, factor * other, faces).kind == "unit"
    for other in (x @ Z_UP, x @ Z_UP.T, x * [1, 1, -1], x[:, ::-1]):
        assert find_mismatch(x, other, faces).kind == "axes"
    assert "y is -z, z is y" in find_mismatch(x, x @ Z_UP, faces).text


def test_point_caches_and_sequences(tmp_path):
    """The first frame of a cache is compared with the mesh, every frame with the one before."""
    write_obj(tmp_path / "ball.obj", X, F)
    steps = np.stack([turned(X, 8 * k) for k in range(3)])
    good, bad = tmp_path / "good.pc2", tmp_path / "bad.pc2"
    good.write_bytes(point_cache(steps))
    assert load_cached(tmp_path / "ball.obj", good, 25.0).frames is not None
    bad.write_bytes(point_cache(100 * steps))
    with refused(SceneError, "hero.motion", where="bad.pc2", got="100 times"):
        load_cached(tmp_path / "ball.obj", bad, 25.0, name="hero")
    later = [steps[0], steps[1], steps[2] @ Z_UP]
    bad.write_bytes(point_cache(later))
    np.savez(tmp_path / "walk.npz", positions=later, faces=F, times=[0, 1, 2])
    for k, x in enumerate(later):
        write_obj(tmp_path / f"walk_{k}.obj", x, F)
    for load in (
        lambda: load_cached(tmp_path / "ball.obj", bad, 25.0, name="hero"),
        lambda: load_frames(tmp_path / "walk_*.obj", 25.0, name="hero"),
        lambda: load_frames(tmp_path / "walk.npz", name="hero"),
    ):
        with refused(SceneError, ("hero.frames", "other axes"), got="frame 2"):
            load()


def test_polygons_of_a_sequence_may_be_cut_by_other_diagonals(tmp_path):
    for k, high in enumerate((0.0, 0.4)):
        corners = [(0, 0, 0), (1, high, 0), (1, 0, 1), (0, high, 1)]
        text = "".join(f"v {x} {y} {z}\n" for x, y, z in corners)
        wide = 1 + 0.5 * k
        text = text.replace("v 1 0 1", f"v {wide} 0 {wide}")
        (tmp_path / f"a_{k}.obj").write_text(text + "f 1 2 3 4\n")
    assert load_frames(tmp_path / "a_*.obj", 25.0)[0].positions.shape == (2, 4, 3)


SHEET = grid(5, 4, 0.4, 0.3, "alternating")


def test_rest_shapes(tmp_path, rng):
    write_obj(tmp_path / "a.obj", SHEET.vertices, SHEET.faces)
    rest = tmp_path / "rest.obj"
    write_obj(rest, shuffled(SHEET.vertices, rng), SHEET.faces)
    with refused(MeshError, "rest", where="rest.obj"):
        weft.load(tmp_path / "a.obj", warp=(1, 0, 0), rest=rest)
    write_obj(rest, SHEET.vertices @ Z_UP, SHEET.faces)
    with pytest.warns(UserWarning, match="other axes"):
        weft.load(tmp_path / "a.obj", warp=(1, 0, 0), rest=rest)
    write_obj(rest, 0.9 * turned(SHEET.vertices, 20, 0), SHEET.faces)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weft.load(tmp_path / "a.obj", warp=(1, 0, 0), rest=rest)


def test_rest_angles_and_starts_of_another_order(rng):
    cloth = weft.sheet(6, 5, 0.5, 0.4)
    x = shuffled(np.array(cloth.vertices), rng)
    with refused(SceneError, "scene.rest_angles", got="order"):
        weft.Scene(cloth, rest_angles=x)
    scene = weft.Scene(cloth, start_state=State(x, np.zeros_like(x)))
    with refused(SceneError, "scene.start_state", got="order"):
        prepare(scene)


def test_assets_of_another_unit_or_other_axes(tmp_path):
    cloth = weft.sheet(6, 5, 0.5, 0.4)
    run = weft.simulate(weft.Scene(cloth, step=0.01), frames=1, progress=False)
    asset = tmp_path / "asset.obj"
    x = np.array(cloth.vertices)
    write_obj(asset, x, cloth.faces)
    assert len(asset_cloths(run, asset)[0]) == 1
    write_obj(asset, 100 * x, cloth.faces)
    with refused(MeshError, "asset of the cloth", got="another unit"):
        asset_cloths(run, asset)
    write_obj(asset, x @ Z_UP, cloth.faces)
    with refused(MeshError, "vertex", hint="other axes"):
        asset_cloths(run, asset)
