"""What a server shows of a run, without one: frames, looks, and a run that goes on."""

import json
import os
import shutil
import socket

import numpy as np
import pytest

import weft
from tests.engine.show.pictures import copy_run, follow, move_frames
from tests.refusals import refused
from weft.base.errors import RunError
from weft.base.machine import process_start
from weft.cloth.fields import Physics
from weft.io.folder_lock import WRITER
from weft.run.recorded_scene import scene_of
from weft.scene.membrane_law import physics
from weft.show.looks import LOOKS, ShownFrame
from weft.show.viewer.page import content_of


def written_by(folder, pid):
    """As a process of that number leaves it that writes into the folder."""
    start = process_start(pid) or "gone"
    told = {"pid": pid, "host": socket.gethostname(), "start": start, "since": "now"}
    (folder / WRITER).write_text(json.dumps(told))


def pinned(about, frame):
    """Vertices that the page marks in a frame, as it does it."""
    t = frame / about["fps"]
    pins = [p for p in about["pins"] if p["until"] is None or t <= p["until"]]
    return [v for p in pins for v in p["vertices"]]


def test_frame_is_that_of_the_run(seen):
    run = follow(seen.path, look="strain")
    arrays, scale = run.frame(4, "strain")
    np.testing.assert_array_equal(arrays["cloth"], seen.positions(4))
    np.testing.assert_array_equal(arrays["bodies"], seen.body_positions(4))
    np.testing.assert_array_equal(arrays["contacts"], seen.contacts(4)[0])
    assert pinned(run.describe(), 4) == [0, 8, 63, 71]
    page = content_of(seen).about["scales"]["strain"]
    assert (scale.low, scale.high) == (page["low"], page["high"])  # as on the page
    assert len(arrays["values"]) == len(arrays["cloth"])
    assert run.state()["progress"] == "complete" and run.describe()["look"] == "strain"
    with refused(RunError, "look of run", got="'strian'", hint="'strain'"):
        run.frame(4, "strian")


def test_numbers_are_those_of_the_run(seen):
    """Fit and speed against brute force; stress is the field's, at a vertex of one face."""
    x, mesh = seen.positions(5), seen.mesh
    laws = physics(scene_of(seen).scene)
    at = ShownFrame(mesh, x, seen, 5, None, laws)
    body = seen.body_positions(5)[seen.body_faces]
    weights = np.random.default_rng(0).dirichlet([1, 1, 1], 400)  # points of every face
    points = np.einsum("kc,fci->fki", weights, body).reshape(-1, 3)
    near = np.linalg.norm(points - x[:20, None], axis=2).min(1)
    fit = LOOKS["fit"].numbers(at)[:20] * 1e-3
    assert (fit <= near + 1e-6).all() and (near - fit).max() < 4e-3
    np.testing.assert_allclose(LOOKS["speed"].numbers(at) ** 2, (seen.velocities(5) ** 2).sum(1))
    made = seen.field("stress", 5, physics=laws)
    corner = int(np.argmin(np.bincount(mesh.faces.reshape(-1))))
    ((face,),) = np.nonzero((mesh.faces == corner).any(1))
    for i, name in enumerate(("stress-warp", "stress-weft", "stress-shear")):
        assert LOOKS[name].numbers(at)[corner] == pytest.approx(made[face, i])
    assert "stress-warp" not in follow(seen.path, physics=Physics()).looks
    assert "stress-warp" in follow(seen.path, physics=laws).looks


def test_follows_a_run_that_goes_on(seen, tmp_path):
    folder, later = copy_run(seen, tmp_path / "run"), tmp_path / "later"
    move_frames(folder / "frames", later, 3, 4, 5, 6)
    written_by(folder, os.getpid())
    run = follow(folder)
    assert run.goes_on and list(run.numbers) == [0, 1, 2]
    assert run.state()["progress"] == "2 of 6 frames, going on"
    move_frames(later, folder / "frames", 3, 4)
    run.update()
    assert list(run.numbers) == [0, 1, 2, 3, 4] and len(run.state()["plots"]["iterations"]) == 5
    assert list(follow(folder, frames="::3").numbers) == [0, 3]
    written_by(folder, 2**22 - 3)  # no such process: it was killed
    run.update()
    assert not run.goes_on and run.state()["progress"] == "4 of 6 frames, stopped"


def test_the_scale_of_a_run_that_begins_with_zeros_follows_its_values(tmp_path):
    """Cloth at rest has speed 0, which says nothing about the speeds to come."""
    folder, later = tmp_path / "run", tmp_path / "later"
    scene = weft.Scene(weft.sheet(4, 4), step=0.002)
    weft.simulate(scene, frames=3, fps=500, out=folder, progress=False, fsync=False)
    move_frames(folder / "frames", later, 1, 2, 3)
    written_by(folder, os.getpid())
    run = follow(folder, look="speed")
    assert run.frame(0, "speed")[1].high == 1.0  # of zeros
    move_frames(later, folder / "frames", 1, 2, 3)
    run.update()
    arrays, scale = run.frame(3, "speed")
    fastest = arrays["values"].max()
    assert 0 < fastest < 0.1
    assert fastest <= scale.high <= 2.5 * fastest


def test_another_run_in_the_folder_is_shown_in_its_place(seen, tmp_path):
    folder = copy_run(seen, tmp_path / "run")
    run = follow(folder, look="panels")
    shutil.rmtree(folder)
    run.update()  # what was read is shown as it was
    assert "no frames any more" in run.state()["note"] and len(run.numbers) == 7
    scene = weft.Scene(weft.sheet(4, 4), step=0.02)
    weft.simulate(scene, frames=2, out=folder, progress=False, fsync=False)
    run.update()
    assert run.state()["edition"] == 1 and run.look == "checker"
    assert run.frame(2, "plain")[0]["cloth"].shape == (16, 3)
    assert len(run.numbers) == 3 and run.note == ""
