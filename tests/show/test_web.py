"""The server, looked at with a real browser: skipped where there is none."""

import os
import shutil
import threading

import numpy as np
import pytest

from tests.show.browsing import Tab, browser_or_skip
from tests.show.test_player import written_by
from weft.run.run import Run
from weft.show.viewer.player import Player
from weft.show.viewer.sent import KEPT, SOON, Sent

pytest.importorskip("viser", reason="no viser: pip install 'weft[view]'")


@pytest.fixture(scope="module")
def served(seen, tmp_path_factory):
    """A player of a run that is going on (three frames of seven), its tab, and the later frames."""
    from weft.show.viewer.web import Web

    browser_or_skip()
    folder = tmp_path_factory.mktemp("web")
    run, later = folder / "run", folder / "later"
    shutil.copytree(seen.path, run)
    later.mkdir()
    for k in (3, 4, 5, 6):
        (run / "frames" / f"{k:06d}.npz").rename(later / f"{k:06d}.npz")
    written_by(run, os.getpid())
    player = Player(lambda: Run(run), look="panels")
    web = Web(player, port=0)
    thread = threading.Thread(target=web.serve)
    thread.start()
    try:
        with Tab(folder, web.url, size=(1000, 700)) as tab:
            tab.wait(lambda: "frame 2" in tab.text())
            tab.wait(lambda: blue(tab.picture()) > 0.01)
            yield player, tab, run, later
    finally:
        web.close()
        thread.join(900)
    assert not thread.is_alive()


def blue(picture):
    """Part of the picture, left of the controls and below what viser says, that is blue cloth."""
    r, _, b = np.moveaxis(picture[140:, :600], -1, 0)
    return (b - r > 40).mean()


def orange(picture):
    r, _, b = np.moveaxis(picture[140:, :600], -1, 0)
    return (r - b > 40).mean()


def test_cloth_is_drawn_and_looks_are_chosen(served):
    player, tab, _, _ = served
    assert orange(tab.picture()) > 0.004  # the second cloth
    player.set_look("plain")
    tab.wait(lambda: orange(tab.picture()) < 0.001 and blue(tab.picture()) > 0.01)
    player.set_look("strain")
    tab.wait(lambda: blue(tab.picture()) < 0.01 and "largest principal strain" in tab.text())
    player.set_look("panels")
    tab.wait(lambda: blue(tab.picture()) > 0.01)


BOXES = "[...document.querySelectorAll('input[type=checkbox]:not([id^=mantine])')]"
NUMBER = "[...document.querySelectorAll('input[type=text]')].find((e) => /^[0-9]+$/.test(e.value))"


def test_boxes_are_pressed(served):
    """Bodies, contacts, pins and follow, in this order; the rest are viser's own."""
    player, tab, _, _ = served
    assert tab.run(f"{BOXES}.map((e) => e.checked)") == [True, False, False, True]
    before = tab.picture()[140:, :600]
    tab.run(f"{BOXES}[0].click()")
    tab.wait(lambda: not player.bodies)
    tab.wait(lambda: (np.abs(tab.picture()[140:, :600] - before).max(-1) > 12).mean() > 0.005)
    tab.run(f"{BOXES}[0].click()")
    tab.wait(lambda: player.bodies)
    tab.run(f"{BOXES}[2].click()")
    tab.wait(lambda: player.pins)


def test_a_frame_is_typed(served):
    player, tab, _, _ = served
    tab.run(f"(() => {{ const e = {NUMBER}; e.focus(); e.select(); }})()")
    tab.ask("Input.insertText", text="1")
    tab.wait(lambda: player.number == 1 and not player.follow)
    tab.wait(lambda: "frame 1," in tab.text())
    tab.run(f"{BOXES}[3].click()")
    tab.wait(lambda: player.follow)


def test_it_follows_then_plays_then_stays_when_the_run_goes(served, seen):
    player, tab, run, later = served
    assert player.goes_on and "2 of 6 frames, going on" in tab.text()
    for k in (3, 4, 5, 6):
        (later / f"{k:06d}.npz").rename(run / "frames" / f"{k:06d}.npz")
    tab.wait(lambda: "frame 6" in tab.text())
    iterations = player.plots["iterations"][6]
    assert f"iterations {iterations}" in tab.text()
    (run / ".lock").unlink()
    tab.wait(lambda: "complete" in tab.text())
    tab.click("play")
    tab.wait(lambda: player.playing and "pause" in tab.text())
    said = set()
    tab.wait(lambda: said.add(tab.text().partition(" s (")[0][-9:]) or len(said) > 3)
    tab.click("pause")
    tab.wait(lambda: not player.playing)
    shutil.rmtree(run)
    tab.wait(lambda: "no frames any more" in tab.text() or "frame =" in tab.text())
    assert blue(tab.picture()) > 0.01  # what was read is still there


class Scene:
    """As much of viser's as surfaces need."""

    def __init__(self):
        self.there = {}

    def add_glb(self, name, data, visible):
        handle = type("Handle", (), {})()
        handle.visible, handle.remove = visible, lambda: self.there.pop(name)
        self.there[name] = handle
        return handle

    def visible(self):
        return [k.rpartition("/")[2] for k, h in self.there.items() if h.visible]


def test_what_was_shown_stays_until_the_new_surface_is_unpacked():
    scene = Scene()
    sent = Sent(scene)
    sent.show("a", lambda: b"a", 0.0)
    assert scene.visible() == ["1"]
    sent.show("a", lambda: b"a", 2 * SOON)
    sent.show("b", lambda: b"b", 2 * SOON)
    assert scene.visible() == ["1", "2"]  # b may not be there yet
    sent.show("b", lambda: b"b", 3.5 * SOON)
    assert scene.visible() == ["2"]
    sent.ahead("c", lambda: b"c", 3.5 * SOON)
    assert scene.visible() == ["2"]
    sent.show("c", lambda: pytest.fail("sent twice"), 5 * SOON)
    assert scene.visible() == ["3"]
    sent.show("a", lambda: pytest.fail("sent twice"), 5 * SOON)
    assert scene.visible() == ["1"]
    for k in range(6):  # moved through quickly: one ghost at most
        sent.show(k, lambda: b"x", 6 * SOON + 0.3 * k * SOON)
        assert len(scene.visible()) <= 2
    sent.clear()
    assert scene.there == {}


def test_browsers_keep_so_many_bytes():
    scene, large = Scene(), b"x" * int(KEPT / 4)
    sent = Sent(scene)
    for k in range(9):
        sent.show(k, lambda: large, float(k))
    assert list(scene.there) == [f"/cloth/{k}" for k in (6, 7, 8, 9)]


def test_server_without_viser_or_port_is_a_named_error(seen, monkeypatch):
    from weft.base.errors import RunError
    from weft.show.viewer.web import Web

    player = Player(lambda: Run(seen.path))
    with pytest.raises(RunError, match="server.*--host"):
        Web(player, host="192.0.2.1")
    monkeypatch.setitem(__import__("sys").modules, "viser", None)
    with pytest.raises(RunError, match=r"pip install 'weft\[view\]'"):
        Web(player)
