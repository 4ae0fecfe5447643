"""What the tests of pictures and of viewers share."""

import shutil
import threading
from contextlib import contextmanager

import numpy as np

from weft.discretization.mesh import TriangleMesh, grid
from weft.run.run import Run
from weft.show.viewer.followed_run import FollowedRun
from weft.show.viewer.run_server import ViewerServer

SMALL = {"width": 320, "height": 180}


def upright(n=21, size=1.0):
    """A square sheet in the plane z = 0, and its vertices there."""
    mesh = grid(n, n, size, size)
    return mesh, np.stack([mesh.vertices[:, 0], -mesh.vertices[:, 2], np.zeros(n * n)], axis=1)


def sewn():
    """Two triangles, of which two vertices have two material coordinates."""
    uv = np.array([[[0, 0], [1, 0], [0, 1]], [[5, 0], [5, 1], [4, 1]]], dtype=float)
    x = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]]
    return TriangleMesh(x, [[0, 1, 2], [1, 3, 2]], uv)


def move_frames(source, target, *numbers):
    """Move frames of a run to another folder, which is made if it is missing."""
    target.mkdir(exist_ok=True)
    for k in numbers:
        (source / f"{k:06d}.npz").rename(target / f"{k:06d}.npz")


def copy_run(run, folder, damaged=None):
    """Copy a run, of which one frame is damaged."""
    shutil.copytree(run.path, folder)
    if damaged is not None:
        (folder / "frames" / f"{damaged:06d}.npz").write_bytes(b"no archive")
    return folder


def follow(folder, **choices):
    """Return the run in a folder as a viewer follows it."""
    return FollowedRun(lambda: Run(folder), **choices)


@contextmanager
def serving(run):
    """Serve a followed run in another thread while the block runs."""
    server = ViewerServer(run, port=0)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(900)
    assert not thread.is_alive()
