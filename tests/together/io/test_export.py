"""Animations out, read back by readers that share nothing with the writers."""

import json
import struct
import sys

import numpy as np
import pytest

from tests.engine.io.files import read_glb, read_moving
from tests.refusals import refused
from tests.together.io.reading import valid_stage
from weft.base.errors import RunError
from weft.cloth.fields import gradients
from weft.discretization.mesh import grid
from weft.io import FORMATS, write_animation
from weft.io.animation import Animation, AnimationFrame, Convention, SurfaceTopology
from weft.io.archive import read_npz
from weft.run.frame_selection import FrameSelection

pytestmark = pytest.mark.quick

ANIMATED = [s for s, f in FORMATS.items() if f.animate is not None]


def z_up(x):
    return np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)


def single(x):
    return np.asarray(x, dtype=np.float32)


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz"])
def test_usd(made, tmp_path, suffix):
    """Read by usd-core; clean under all of its validators."""
    pytest.importorskip("pxr")
    from pxr import UsdGeom

    path = tmp_path / f"a{suffix}"
    made.export(path, "1:-1", up="z", units="cm", first=1001)
    stage = valid_stage(path)
    assert UsdGeom.GetStageMetersPerUnit(stage) == 0.01 and UsdGeom.GetStageUpAxis(stage) == "Z"
    assert stage.GetTimeCodesPerSecond() == stage.GetFramesPerSecond() == 30
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (1001, 1006)
    cloth, ball, box = (
        UsdGeom.Mesh.Get(stage, f"/weft/{n}") for n in ("cloth", "ball", "bodies_1")
    )
    assert cloth.GetPointsAttr().GetTimeSamples() == list(range(1001, 1007))
    for k in range(1, 7):
        x, v, bodies = (
            single(100 * z_up(values(k)))
            for values in (made.positions, made.velocities, made.body_positions)
        )
        points, on_ball, on_box = (m.GetPointsAttr().Get(1000 + k) for m in (cloth, ball, box))
        np.testing.assert_array_equal(points, x)
        np.testing.assert_array_equal(cloth.GetVelocitiesAttr().Get(1000 + k), v)
        extent = UsdGeom.PointBased.ComputeExtent(points)
        np.testing.assert_allclose(cloth.GetExtentAttr().Get(1000 + k), extent)
        np.testing.assert_array_equal(np.concatenate([on_ball, on_box]), bodies)
    assert 0 < len(ball.GetPointsAttr().GetTimeSamples()) < 6  # it stands still at first
    assert box.GetPointsAttr().GetTimeSamples() == []


@pytest.mark.parametrize("suffix", [".glb", ".gltf"])
def test_gltf(made, tmp_path, suffix):
    """Read by pygltflib: places and bounds of all numbers are right; the frames come back."""
    pygltflib = pytest.importorskip("pygltflib")
    path = tmp_path / f"a{suffix}"
    made.export(path)
    tree = pygltflib.GLTF2().load(str(path))
    if suffix == ".gltf":
        tree.convert_buffers(pygltflib.BufferFormat.BINARYBLOB)
    blob = tree.binary_blob()
    code, width = {5126: "<f4", 5125: "<u4"}, {"SCALAR": 1, "VEC2": 2, "VEC3": 3}
    values = []
    for a in tree.accessors:
        view, n = tree.bufferViews[a.bufferView], width[a.type]
        data = np.frombuffer(blob, code[a.componentType], a.count * n, view.byteOffset)
        assert data.nbytes == view.byteLength and view.byteOffset % 4 == 0
        values.append(data.reshape(-1, n))
        if a.max:
            np.testing.assert_array_equal(single(a.max), values[-1].max(0))
            np.testing.assert_array_equal(single(a.min), values[-1].min(0))
    assert [n.name for n in tree.nodes] == ["cloth", "ball", "bodies.1"]
    normals = values[tree.meshes[0].primitives[0].attributes.NORMAL]
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-6)
    (animation,) = tree.animations
    assert [c.target.node for c in animation.channels] == [0, 1]
    times, found, ids = read_moving(path, prim="ball")
    np.testing.assert_allclose(times, np.arange(7) / 30, rtol=1e-6)
    for x, k in zip(found, range(7), strict=True):
        bodies = made.body_positions(k)[made.body_faces[:80]]
        np.testing.assert_allclose(x[ids], bodies, atol=1e-6)


def waving(count, units="m"):
    """A sheet that waves."""
    mesh = grid(4, 4, 1.0, 1.0)
    x = mesh.vertices
    frames = [x + 0.1 * np.sin(x[:, :1] + 0.1 * k) * [0, 1, 0] for k in range(count)]
    return Animation(
        [SurfaceTopology("cloth", mesh.faces, mesh.corner_uv)],
        count,
        lambda k: AnimationFrame(k / 30, [frames[k]], np.zeros_like(x)),
        convention=Convention(units=units),
    )


def test_gltf_of_many_frames_is_thinned_and_says_so(tmp_path):
    from weft.plugins.film.gltf.gltf import MOST_TARGETS

    path = tmp_path / "a.glb"
    (note,) = write_animation(path, waving(100))
    assert f"{MOST_TARGETS} of 100 frames" in note
    tree, _ = read_glb(path)
    times = tree["accessors"][tree["animations"][0]["samplers"][0]["input"]]
    assert times["count"] == MOST_TARGETS and times["max"] == [pytest.approx(99 / 30)]
    with refused(RunError, "up, units", expected="y and m"):
        write_animation(path, waving(2, units="cm"))


def test_vtkhdf(made, tmp_path):
    """Read by VTK, step by step."""
    vtk = pytest.importorskip("vtk")
    pytest.importorskip("h5py")
    from vtk.util.numpy_support import vtk_to_numpy

    path = tmp_path / "a.vtkhdf"
    made.export(path)
    reader = vtk.vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    assert reader.GetNumberOfSteps() == 7
    n, m = made.mesh.n_vertices, len(made.faces)
    whole = np.concatenate([made.faces, made.body_faces + n])
    for k in range(7):
        reader.SetStep(k)
        reader.Update()
        data = reader.GetOutputDataObject(0)
        assert data.IsA("vtkPolyData")

        points, cells = (
            {a.GetArrayName(i): vtk_to_numpy(a.GetArray(i)) for i in range(a.GetNumberOfArrays())}
            for a in (data.GetPointData(), data.GetCellData())
        )
        x = vtk_to_numpy(data.GetPoints().GetData())
        np.testing.assert_array_equal(x[:n], made.positions(k))
        np.testing.assert_array_equal(x[n:], made.body_positions(k))
        ids = vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)
        np.testing.assert_array_equal(ids, whole)
        assert reader.GetTimeValue() == pytest.approx(k / 30)
        np.testing.assert_array_equal(points["contact_pressure"][:n], single(made.pressure(k)))
        assert np.isnan(points["strain"][n:]).all() and np.isnan(cells["shear"][m:]).all()
        parts = np.repeat([0, 1, 2], [m, 80, len(whole) - m - 80])
        np.testing.assert_array_equal(cells["part"], parts)
        warp = gradients(made.mesh, x[:n])[:, :, 0]
        strain = np.linalg.norm(warp, axis=1) - 1
        np.testing.assert_allclose(cells["strain_warp"][:m], strain, atol=1e-6)


def test_point_caches(made, tmp_path):
    """The bytes, as the format is described."""
    n = made.mesh.n_vertices
    made.export(tmp_path / "a.pc2", first=1001)
    data = (tmp_path / "a.pc2").read_bytes()
    assert struct.unpack_from("<12siiffi", data) == (b"POINTCACHE2\0", 1, n, 1001.0, 1.0, 7)
    x = np.frombuffer(data, "<f4", offset=32).reshape(7, n, 3)
    np.testing.assert_array_equal(x, [single(made.positions(k)) for k in range(7)])


@pytest.mark.parametrize("suffix", [".npz", ".h5"])
def test_arrays(made, tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    made.export(path, "0:-1:2")
    if suffix == ".npz":
        found = read_npz(path, what="a", expected="arrays", error=RunError)
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(path) as file:
            found = {k: v[()] for k, v in file.items()}
        found["about"] = found["about"].decode()
    chosen = [0, 2, 4, 6]
    np.testing.assert_allclose(found["times"], np.array(chosen) / 30)
    np.testing.assert_array_equal(found["positions"], [made.positions(k) for k in chosen])
    np.testing.assert_array_equal(found["velocities"], [made.velocities(k) for k in chosen])
    pressures = [made.pressure(k) for k in chosen]
    np.testing.assert_array_equal(found["point_contact_pressure"], pressures)
    np.testing.assert_array_equal(found["faces"], made.faces)
    bodies = np.concatenate([found["body_0_positions"], found["body_1_positions"]], axis=1)
    np.testing.assert_array_equal(bodies, [made.body_positions(k) for k in chosen])
    assert json.loads(str(found["about"]))["fps"] == 15


def test_frames_between(made, monkeypatch):
    """Another rate: at a run's frames exactly them; between them a cubic of which free fall, a
    parabola, keeps every digit.
    """
    film = made.animation(fps=60)
    assert film.count == 13 and film.first == 0
    for k in range(7):
        np.testing.assert_array_equal(film.moment(2 * k).positions[0], made.positions(k))
    rest = np.array(made.mesh.vertices)

    def fallen(k=-1, density=None):
        return rest + [0, -0.5 * 9.81 * (k / 30) ** 2, 0]

    def speed(k=-1, density=None):
        return np.tile([0.0, -9.81 * k / 30, 0.0], (len(rest), 1))

    monkeypatch.setattr(made, "positions", fallen)
    monkeypatch.setattr(made, "velocities", speed)
    film = made.animation(fps=24.0)
    assert film.count == 5  # 0.2 s
    for j, moment in enumerate(film):
        assert moment.t == j / 24
        np.testing.assert_allclose(moment.positions[0], fallen(30 * j / 24), atol=1e-14)
        np.testing.assert_allclose(moment.velocities, speed(30 * j / 24), atol=1e-13)


def test_times_stay_those_of_the_run(made):
    """Part of a run at another rate: number over rate is the time in the run."""
    film = made.animation("1:6", fps=24)
    times = np.arange(1, 5) / 24  # 1/24 s is the first after 1/30 s
    np.testing.assert_allclose([m.t for m in film], times, rtol=1e-12)
    np.testing.assert_allclose((film.first + np.arange(film.count)) / film.fps, times)


@pytest.mark.parametrize("frames, fps", [("1:-1:2", None), ("1:1", 24)])
def test_times_without_a_whole_number_are_refused(made, frames, fps):
    with refused(RunError, "frames"):
        made.animation(frames, fps=fps)
    film = made.animation(frames, fps=fps, first=1001)
    np.testing.assert_array_equal(film.moment(0).positions[0], made.positions(1))


@pytest.mark.parametrize(
    "text, numbers",
    [
        (None, range(7)),
        ("2:4", [2, 3, 4]),
        ("0:-1:3", [0, 3, 6]),
        ("-2:", [5, 6]),
        ("3", [3]),
    ],
)
def test_selection(text, numbers):
    assert list(FrameSelection.of(text).numbers(7, "run")) == list(numbers)


@pytest.mark.parametrize("text", ["a", "1:2:3:4", "1:2:0", "5:3", "0:7", "-8:"])
def test_bad_selection(text):
    with refused(RunError, "frames"):
        FrameSelection.of(text).numbers(7, "run")


@pytest.mark.parametrize("suffix", ANIMATED)
def test_a_failed_export_leaves_the_old_file(made, tmp_path, suffix, monkeypatch):
    """A frame that cannot be read ends it; what was there before is there, and nothing else."""
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"before")
    monkeypatch.setattr(made, "velocities", lambda *_: (_ for _ in ()).throw(RunError("broken")))
    with refused(RunError, "broken"):
        made.export(path)
    assert path.read_bytes() == b"before" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("suffix", ANIMATED)
def test_a_folder_that_is_not_there_is_named(made, tmp_path, suffix):
    with refused(RunError, f"cannot write a{suffix}", where="none"):
        made.export(tmp_path / "none" / f"a{suffix}")


@pytest.mark.parametrize(
    "module, suffix, extra",
    [("pxr.Usd", ".usdc", "usd"), ("h5py", ".h5", "hdf5"), ("h5py", ".vtkhdf", "hdf5")],
)
def test_a_missing_package_says_what_to_install(made, tmp_path, monkeypatch, module, suffix, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with refused(RunError, hint=f"weft[{extra}]"):
        made.export(tmp_path / f"a{suffix}")
