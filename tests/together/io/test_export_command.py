"""``weft export`` as a user meets it."""

import numpy as np
import pytest

from tests import command
from weft.io import read_mesh, read_surface

resource = pytest.importorskip("resource")

pytestmark = pytest.mark.quick


@pytest.fixture
def export(made, monkeypatch, capsys, tmp_path):
    """A function: status and what is said of ``weft export RUN ...``."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        status, out, err = command.call_weft(monkeypatch, capsys, "export", made.path, *arguments)
        return status, out + err

    return call


def test_all_frames_in_one_file(export, made, tmp_path):
    status, said = export("a.npz", "--frames", "1:-1", "--fps", "60", "--units", "cm")
    assert status == 0 and "wrote    a.npz (11 frames at 60 fps)" in said
    found = np.load(tmp_path / "a.npz")
    np.testing.assert_allclose(found["positions"][2], 100 * made.positions(2))
    status, said = export("a.pc2", "--frame", "-1")
    assert status == 0 and "(1 frame at" in said and "this format has no bodies: ball" in said
    np.testing.assert_array_equal(
        np.frombuffer((tmp_path / "a.pc2").read_bytes(), "<f4", offset=32).reshape(-1, 3),
        made.positions(6).astype(np.float32),
    )


@pytest.mark.parametrize("suffix", ["npz", "usdc", "usdz", "glb", "obj"])
def test_a_full_disk_is_named(export, tmp_path, suffix):
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limit[1]))
    try:
        status, said = export(f"x.{suffix}")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert status == 2 and f"cannot write x.{suffix}" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.campaign
def test_a_full_disk_does_not_end_hdf5(made, tmp_path):
    """In a process of its own, which takes seconds: HDF5 would take the tests with it."""
    result = command.weft("export", made.path, "x.h5", cwd=tmp_path, file_size=500)
    assert "cannot write x.h5" in command.refused(result) and result.status == 2
    assert list(tmp_path.iterdir()) == []


def test_a_mesh_file_for_every_frame(export, made, tmp_path):
    assert export("all.####.ply", "--frames", "2:4")[0] == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == [f"all.000{k}.ply" for k in (2, 3, 4)]
    np.testing.assert_array_equal(read_surface(tmp_path / "all.0003.ply")[0], made.positions(3))
    assert export("shot.####.obj", "--frames", "2:4", "--first", "1001", "--up", "z")[0] == 0
    x = read_surface(tmp_path / "shot.1003.obj")[0]
    np.testing.assert_array_equal(x, made.positions(4)[:, [0, 2, 1]] * [1, -1, 1])
    assert export("cm.obj", "--frame", "0", "--units", "cm")[0] == 0
    mesh = read_mesh(tmp_path / "cm.obj", scale=0.01, uv_scale=1.0)
    np.testing.assert_allclose(mesh.vertices, made.positions(0), atol=1e-15)
    np.testing.assert_allclose(mesh.corner_uv, made.corner_uv, atol=1e-15)


@pytest.mark.parametrize(
    "arguments, match",
    [
        (("a.fbx",), "export format = .fbx"),
        (("a",), "no suffix"),
        (("a.##.pc2",), "a name without #"),
        (("a#b#.obj",), "one group of #"),
        (("a.obj", "--frames", "1:2"), "a name with #"),
        (("a.pc2", "--frames", "1:2", "--frame", "1"), "both"),
        (("a.pc2", "--frame", "7"), "frames of 0 to 6"),
        (("a.pc2", "--up", "w"), "up = "),
        (("a.pc2", "--units", "ft"), "units = "),
        (("a.pc2", "--fps", "0"), "--fps"),
        (("a.pc2", "--fps", "60", "--frames", "0:-1:2"), "one of the two"),
        (("a.glb", "--up", "z"), "meters and y up"),
        (("a.pc2", "--net"), "--net"),
    ],
)
def test_what_a_user_gets_wrong(export, tmp_path, arguments, match):
    status, said = export(*arguments)
    assert status == 2 and match in " ".join(said.split()), said
    assert list(tmp_path.iterdir()) == []
