"""Places that cannot be written: a named error with its cure, and results all the same.

Tests may run as root, who may write anywhere: a file stands where a folder is needed.
"""

import errno
import os
import sys

import pytest

from tests.command import call_weft, weft
from tests.refusals import refused
from weft.base.errors import DeviceError, RunError
from weft.cli.crash import report
from weft.kernel.context import named_cache_errors
from weft.live.save import SceneSource

SCENE = "cloth: {sheet: {nx: 3, ny: 3, width: 10 cm, height: 10 cm}}\nseconds: 0.04\n"


@pytest.fixture
def blocked(tmp_path):
    """A file, below which no folder can be made."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file"


def test_a_cache_that_cannot_be_made_is_named(tmp_path, blocked):
    (tmp_path / "scene.yaml").write_text(SCENE)
    env = {k: v for k, v in os.environ.items() if k not in ("WARP_CACHE_PATH", "XDG_CACHE_HOME")}
    env["HOME"] = str(blocked)
    done = weft("run", "scene.yaml", cwd=tmp_path, env=env)
    assert done.status == 2 and "Traceback" not in done.err
    assert "folder of compiled kernels" in done.err and "WARP_CACHE_PATH=" in done.err


def test_a_kernel_that_cannot_be_kept_is_named():
    named = refused(DeviceError, "folder of compiled kernels", hint="WARP_CACHE_PATH")
    with named, named_cache_errors():
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/a/cache/weft.o")


def test_other_places_are_named_with_their_cure(capsys):
    error = OSError(errno.EROFS, os.strerror(errno.EROFS), "/a/place")
    assert report(error, []) == 2
    said = capsys.readouterr().err
    assert "/a/place" in said and "--out" in said
    none = FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")
    assert report(none, []) == 2
    assert "TMPDIR=" in capsys.readouterr().err


CROSSING = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0.1 0.1 -1\nv 0.1 0.1 1\nv 0.5 0.4 1\nf 1 2 3\nf 4 5 6\n"
PATTERN = "panels: {a: {outline: [[0, 0], [20 cm, 0], [0, 20 cm]]}}"


def test_check_prints_its_results_without_matplotlib(tmp_path, monkeypatch, capsys):
    (tmp_path / "a.yaml").write_text(PATTERN)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    status, out, _ = call_weft(monkeypatch, capsys, "check", tmp_path / "a.yaml")
    assert status == 0 and "panels" in out and "pip install 'weft[plots]'" in out


def test_check_prints_its_results_without_its_picture(tmp_path, blocked, monkeypatch, capsys):
    (tmp_path / "mesh.obj").write_text(CROSSING)
    words = [tmp_path / "mesh.obj", "--warp", "1,0.3,0.2", "--picture", blocked / "a.png"]
    status, out, err = call_weft(monkeypatch, capsys, "check", *words)
    assert status == 0 and "pairs of faces intersect" in out and err == ""
    assert "picture  not written" in out and "--picture PNG" in out


def test_play_makes_its_folder(tmp_path, blocked):
    out = tmp_path / "new" / "folder"
    assert SceneSource.of({}, tmp_path / "scene.yaml", out).folder == out and out.is_dir()
    with refused(RunError, "cannot make folder", where="file"):
        SceneSource.of({}, tmp_path / "scene.yaml", blocked / "below")
