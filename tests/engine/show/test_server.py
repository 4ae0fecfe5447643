"""The server, looked at with a real browser: skipped where there is none."""

import os
import shutil

import numpy as np
import pytest

from tests.engine.show.browsing import Tab, browser_or_skip
from tests.engine.show.pictures import copy_run, follow, move_frames, serving
from tests.engine.show.test_followed_run import written_by
from tests.refusals import refused
from weft.base.errors import RunError
from weft.show.viewer.run_server import ViewerServer


@pytest.fixture(scope="module")
def served(seen, tmp_path_factory):
    """A run that is going on (three frames of seven), its tab, and the later frames."""
    browser_or_skip()
    folder = tmp_path_factory.mktemp("web")
    run, later = copy_run(seen, folder / "run"), folder / "later"
    move_frames(run / "frames", later, 3, 4, 5, 6)
    written_by(run, os.getpid())
    with (
        serving(follow(run, look="panels")) as server,
        Tab(folder, server.url, size=(1000, 700)) as tab,
    ):
        tab.wait(lambda: "frame 2," in tab.text())
        tab.wait(lambda: blue(tab.picture()) > 0.01)
        yield tab, run, later


def blue(picture):
    """Part of the picture, above the controls and below the texts, that is blue cloth."""
    r, _, b = np.moveaxis(picture[80:520], -1, 0)
    return (b - r > 40).mean()


def orange(picture):
    r, _, b = np.moveaxis(picture[80:520], -1, 0)
    return (r - b > 40).mean()


def chosen(tab, look):
    tab.run(
        f"(() => {{ const e = document.getElementById('look'); e.value = '{look}';"
        "e.dispatchEvent(new Event('change')); })()"
    )


def pressed(tab, key):
    tab.run(f"window.dispatchEvent(new KeyboardEvent('keydown', {{ key: '{key}' }}))")


def state(tab, name):
    return tab.run(f"window.weft.then((viewer) => viewer.state.{name})")


@pytest.mark.browser
def test_cloth_is_drawn_and_looks_are_chosen(served):
    tab, _, _ = served
    assert orange(tab.picture()) > 0.004  # the second cloth
    chosen(tab, "plain")
    tab.wait(lambda: orange(tab.picture()) < 0.001 and blue(tab.picture()) > 0.01)
    chosen(tab, "strain")
    tab.wait(lambda: blue(tab.picture()) < 0.05 and "largest principal strain" in tab.text())
    chosen(tab, "panels")
    tab.wait(lambda: blue(tab.picture()) > 0.01 and orange(tab.picture()) > 0.004)


@pytest.mark.browser
def test_it_follows_then_plays_then_stays_when_the_run_goes(served, seen):
    tab, run, later = served
    move_frames(later, run / "frames", 5, 6)
    tab.wait(lambda: "frame 6," in tab.text())
    tab.click("play")  # plays what there is, and waits for more
    tab.wait(lambda: state(tab, "playing") and "pause" in tab.text())
    assert state(tab, "frame") == 6
    written_by(run, 2**22 - 3)  # no such process
    tab.wait(lambda: "complete" in tab.text())
    numbers = set()
    tab.wait(lambda: numbers.add(state(tab, "frame")) or len(numbers) > 3)
    tab.click("pause")
    tab.wait(lambda: not state(tab, "playing"))
    shutil.rmtree(run)
    tab.wait(lambda: "no frames any more" in tab.text())
    assert blue(tab.picture()) > 0.01  # what was read is still there


@pytest.mark.parametrize("damaged", [0, 3])
def test_a_damaged_frame_leaves_the_page_and_the_others(seen, tmp_path, damaged):
    run = copy_run(seen, tmp_path / "run")
    server = ViewerServer(follow(run), port=0)
    (run / "frames" / f"{damaged:06d}.npz").write_bytes(b"no archive")
    assert server.answer("")[0] == 200
    status = [server.answer(f"frame?number={k}&look=strain")[0] for k in range(7)]
    assert status == [409 if k == damaged else 200 for k in range(7)]


def test_a_host_that_is_not_here_is_a_named_error(seen):
    with refused(RunError, "server", hint="`host=`"):
        ViewerServer(follow(seen.path), host="192.0.2.1")


def test_a_port_that_is_taken_gives_the_next_one(seen):
    first = ViewerServer(follow(seen.path), port=0)
    second = ViewerServer(follow(seen.path), port=first.port)
    assert second.port > first.port
