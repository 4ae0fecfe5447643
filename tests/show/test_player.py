"""What viewers show of a run, without any: frames, looks, playing, and a run that goes on."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import weft
from weft.base.errors import RunError
from weft.base.machine import process_start
from weft.cloth.fields import Physics
from weft.discretization.linear_triangle import linear_triangle
from weft.io.lock import NAME
from weft.run.run import Run
from weft.show.viewer.measures import MEASURES, At
from weft.show.viewer.page_content import content_of
from weft.show.viewer.player import EVERY, Player


@pytest.fixture
def copied(seen, tmp_path):
    """A run that may be changed, with the files that it lacks so far: its last four frames."""
    folder = tmp_path / "run"
    shutil.copytree(seen.path, folder)
    later = tmp_path / "later"
    later.mkdir()
    for k in (3, 4, 5, 6):
        name = f"{k:06d}.npz"
        (folder / "frames" / name).rename(later / name)
    return folder, later


def arrive(folder, later, *numbers):
    for k in numbers:
        (later / f"{k:06d}.npz").rename(folder / "frames" / f"{k:06d}.npz")


def written_by(folder, pid):
    """As a process of that number leaves it that writes into the folder."""
    start = process_start(pid)
    told = {"pid": pid, "host": socket.gethostname(), "start": start or "gone", "since": "now"}
    (folder / NAME).write_text(json.dumps(told))


def test_picture_is_the_run(seen):
    player = Player(lambda: Run(seen.path), look="strain")
    player.go(4)
    shown = player.picture()
    np.testing.assert_array_equal(shown.cloth, seen.positions(4))
    np.testing.assert_array_equal(shown.bodies, seen.body_positions(4))
    np.testing.assert_array_equal(shown.contacts, seen.contacts(4)[0])
    np.testing.assert_array_equal(shown.held, seen.positions(4)[[0, 8, 63, 71]])
    scale = player.scale()
    told = content_of(seen).about["scales"]["strain"]
    assert (scale.low, scale.high) == (told["low"], told["high"])  # as on the page
    assert player.status == "frame 4, 0.133 s (complete)"
    assert player.looks[:4] == ("panels", "checker", "plain", "strain")
    assert {"pressure", "curvature", "fit", "speed"} < set(player.looks)
    with pytest.raises(RunError, match="look of run = 'strian'.*did you mean 'strain'"):
        player.set_look("strian")


def test_measures_are_those_of_the_run(seen):
    """Fit and speed against brute force; stress against the law, at a vertex of one face."""
    x, mesh = seen.positions(5), seen.mesh
    at = At(seen, 5, mesh, x, None, physics_of(seen))
    body = seen.body_positions(5)[seen.body_faces]
    weights = np.random.default_rng(0).dirichlet([1, 1, 1], 400)  # points of every face
    points = np.einsum("kc,fci->fki", weights, body).reshape(-1, 3)
    near = np.array([np.linalg.norm(points - p, axis=1).min() for p in x[:20]])
    fit = MEASURES["fit"].of(at)[:20] * 1e-3
    assert (fit <= near + 1e-6).all() and (near - fit).max() < 4e-3
    np.testing.assert_allclose(MEASURES["speed"].of(at) ** 2, (seen.velocities(5) ** 2).sum(1))
    made = seen.field("stress", 5, physics=physics_of(seen))
    counts = np.bincount(mesh.faces.reshape(-1))
    corner = int(np.argmin(counts))
    face = int(np.nonzero((mesh.faces == corner).any(1))[0][0])
    assert counts[corner] == 1
    for i, name in enumerate(("stress-warp", "stress-weft", "stress-shear")):
        assert MEASURES[name].of(at)[corner] == pytest.approx(made[face, i])
    F = linear_triangle(mesh).deformation_gradient(x)[face]
    law = physics_of(seen).laws[0][0]
    pulled = law.stress(F[None])[0]
    tension = np.linalg.pinv(F) @ pulled * np.linalg.norm(F, axis=0)[:, None]
    assert made[face, 0] == pytest.approx(tension[0, 0])


def physics_of(run):
    from weft.scene.of_run import scene_of

    return scene_of(run).scene.physics()


def test_stress_needs_laws(seen):
    assert "stress-warp" not in Player(lambda: Run(seen.path)).looks
    assert "stress-warp" not in Player(lambda: Run(seen.path), physics=Physics()).looks
    assert "stress-warp" in Player(lambda: Run(seen.path), physics=physics_of(seen)).looks


def test_plays_at_the_rate_of_the_run_and_begins_again(seen):
    player = Player(lambda: Run(seen.path))
    player.play(True)
    places = []
    for k in range(9):
        player.tick(100 + 1.001 * k / 30)
        places.append(player.place)
    assert places == [0, 1, 2, 3, 4, 5, 6, 0, 1]
    player.set_speed(0.5)
    player.tick(200)
    player.tick(200 + 2.001 / 30)
    assert player.place == 2
    player.go(99)
    assert player.place == 6 and not player.playing
    player.play(True)
    assert player.place == 0
    thinned = Player(lambda: Run(seen.path), "::3")
    thinned.play(True)
    thinned.tick(0.0)
    thinned.tick(0.101)
    assert thinned.number == 3  # every third frame, three frames later


def test_follows_a_run_that_goes_on(copied):
    folder, later = copied
    written_by(folder, os.getpid())
    player = Player(lambda: Run(folder))
    assert player.goes_on and player.follow and player.number == 2
    assert player.status == "frame 2, 0.067 s (2 of 6 frames, going on)"
    player.tick(0.0)
    arrive(folder, later, 3, 4)
    assert not player.tick(0.9 * EVERY) and player.tick(1.1 * EVERY)
    assert player.number == 4 and len(player.plots["iterations"]) == 5
    player.go(1)  # whoever looks at another frame stays there
    arrive(folder, later, 5)
    player.tick(4 * EVERY)
    assert player.number == 1 and len(player.numbers) == 6
    player.go(5)
    player.play(True)
    for t in (10.0, 10.5, 11.0):  # plays what there is, and waits
        player.tick(t)
    assert player.place == 5 and player.playing
    arrive(folder, later, 6)
    player.tick(12.0)
    player.tick(12.04)
    player.tick(12.08)
    assert player.place == 6


def test_the_scale_of_a_run_that_begins_with_zeros_follows_its_values(tmp_path):
    """Cloth at rest has speed 0, which says nothing about the speeds to come."""
    folder, later = tmp_path / "run", tmp_path / "later"
    later.mkdir()
    scene = weft.Scene(weft.sheet(4, 4), step=0.002)
    weft.simulate(scene, frames=3, fps=500, out=folder, progress=False, fsync=False)
    for k in (1, 2, 3):
        name = f"{k:06d}.npz"
        (folder / "frames" / name).rename(later / name)
    written_by(folder, os.getpid())
    player = Player(lambda: Run(folder), look="speed")
    assert player.scale().high == 1.0  # of zeros
    arrive(folder, later, 1, 2, 3)
    player.tick(2 * EVERY)
    fastest = player.picture().values.max()
    assert 0 < fastest < 0.1
    assert fastest <= player.scale().high <= 2.5 * fastest


def test_a_run_whose_process_was_killed_has_stopped(copied):
    folder, _ = copied
    written_by(folder, 2**22 - 3)  # no such process
    player = Player(lambda: Run(folder))
    assert not player.goes_on and "2 of 6 frames, stopped" in player.status


def test_a_run_that_goes_away_is_shown_as_it_was(seen, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(seen.path, folder)
    player = Player(lambda: Run(folder))
    player.go(3)
    before = player.picture()
    shutil.rmtree(folder)
    assert player.tick(1.0) and "no frames any more" in player.note
    player.go(5)
    assert player.picture() is before and "no frames any more" in player.note
    player.tick(5.0)
    assert player.picture() is before


def test_a_damaged_frame_is_said(seen, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(seen.path, folder)
    (folder / "frames" / "000004.npz").write_bytes(b"no archive")
    player = Player(lambda: Run(folder))
    before = player.picture()
    player.go(4)
    assert player.picture() is before and "000004.npz" in player.note


def test_another_run_in_the_folder_is_shown_in_its_place(seen, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(seen.path, folder)
    player = Player(lambda: Run(folder), look="panels")
    player.go(6)
    shutil.rmtree(folder)
    player.tick(1.0)
    scene = weft.Scene(weft.sheet(4, 4), step=0.02)
    weft.simulate(scene, frames=2, out=folder, progress=False, fsync=False)
    assert player.tick(2.0) and player.editions == 1
    assert player.picture().cloth.shape == (16, 3) and player.look == "checker"
    assert len(player.numbers) == 3 and player.note == ""


def test_splines_at_a_density(tmp_path):
    scene = weft.Scene(weft.spline_sheet(4, 4), step=0.02)
    run = weft.simulate(scene, frames=2, out=tmp_path / "run", progress=False, fsync=False)
    player = Player(lambda: Run(tmp_path / "run"), density=3, look="strain")
    player.go(2)
    np.testing.assert_array_equal(player.picture().cloth, run.positions(2, 3))
    assert len(player.picture().values) == len(run.positions(2, 3)) and not len(
        player.picture().held
    )


LONG = """
import sys, weft
cloth = weft.sheet(20, 20)
scene = weft.Scene(cloth, [weft.Pin(cloth.corners("top-left"))])
weft.simulate(scene, frames=200_000, out=sys.argv[1], progress=False, fsync=False)
"""


@pytest.mark.slow
def test_a_process_is_followed_and_its_kill_is_seen(tmp_path):
    folder = tmp_path / "run"
    process = subprocess.Popen([sys.executable, "-c", LONG, str(folder)])
    try:
        wait(lambda: len(list(folder.glob("frames/*.npz"))) > 1)
        player = Player(lambda: Run(folder), look="strain")
        assert player.goes_on and player.follow
        seen_so_far = player.number
        wait(lambda: player.tick(time.monotonic()) and player.number > seen_so_far + 1)
        assert player.picture().number == player.number and "going on" in player.status
    finally:
        process.kill()
        process.wait()
    wait(lambda: player.tick(time.monotonic()) is not None and not player.goes_on)
    assert "of 200000 frames, stopped" in player.status
    assert player.picture().number == player.number


def wait(what, seconds=900):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
