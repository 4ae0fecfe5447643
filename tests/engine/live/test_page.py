"""The page in a real browser, with real events of a pointer."""

import json

import numpy as np
import pytest

from tests.engine.live.fake import FakeProcess
from tests.engine.live.test_server import served
from tests.engine.show.browsing import Tab, browser_or_skip
from tests.engine.show.pictures import follow
from weft.live import server as play_server

pytestmark = pytest.mark.browser
SHIFT = 8
CLOTH, BESIDE, MIDDLE = (300, 165), (60, 420), (325, 238)  # [pixels]


@pytest.fixture(scope="module")
def played(seen, tmp_path_factory):
    """A simulation, and the tab that shows it."""
    browser_or_skip()
    process = FakeProcess(follow(seen.path))
    patch = pytest.MonkeyPatch()
    patch.setattr(play_server, "ABSENT", 600.0)  # a browser that draws by the processor is slow
    folder = tmp_path_factory.mktemp("play")
    with served(process) as server, Tab(folder, server.url, size=(900, 600)) as tab:
        process.say([])
        tab.wait(lambda: tab.run("document.body.dataset.shown"))
        yield process, tab
    patch.undo()


@pytest.fixture(autouse=True)
def nothing_said(played):
    played[0].said.clear()


def mouse(tab, kind, place, modifiers=0, **more):
    x, y = place
    pressed = {} if kind == "mouseWheel" else {"button": "left", "buttons": 1, "clickCount": 1}
    event = {"type": kind, "x": x, "y": y, "modifiers": modifiers}
    tab.ask("Input.dispatchMouseEvent", **event, **pressed, **more)


def done(process, kind):
    """Messages of that kind that came so far."""
    return [m for m in process.said if m["do"] == kind]


def drag(tab, process, start, end, modifiers=0):
    """Press, move in three parts, and release."""
    mouse(tab, "mousePressed", start)
    for k in (1, 2, 3):
        mouse(tab, "mouseMoved", [a + k * (b - a) / 3 for a, b in zip(start, end)])
    mouse(tab, "mouseReleased", end, modifiers)


def text(tab, name):
    return tab.run(f"document.getElementById('{name}').innerText")


def camera(tab):
    return tab.run("weft.then((v) => v.camera.azimuth)")


def test_cloth_is_dragged_and_pinned_and_the_pin_taken_away(played):
    process, tab = played
    turned = camera(tab)
    mouse(tab, "mousePressed", CLOTH)
    (press,) = tab.wait(lambda: done(process, "press"))
    assert press["on"] == "cloth" and press["force"] == 5 and press["finger"] == 0
    face = process.run.view.cloth.faces[press["face"]]
    x = process.x[face]
    assert sum(press["weights"]) == pytest.approx(1)
    assert press["place"] == pytest.approx(list(press["weights"] @ x), abs=1e-6)
    mouse(tab, "mouseMoved", (350, 100))
    tab.wait(lambda: done(process, "move"))
    lines = (
        "[...document.querySelectorAll('#hands line')].map((e) => "
        "['x1', 'y1', 'x2', 'y2'].map((k) => e[k].baseVal.value))"
    )
    wanted = pytest.approx([*CLOTH, 350, 100], abs=0.01)
    tab.wait(lambda: [*tab.run(lines), None][0] == wanted)
    size = "(e => [e.clientWidth, e.clientHeight])(document.getElementById('{}'))"
    assert tab.run(size.format("hands")) == tab.run(size.format("picture"))
    tab.wait(lambda: "2.35 N" in tab.run("document.getElementById('hands').textContent"))
    mouse(tab, "mouseReleased", (350, 100), SHIFT)
    tab.wait(lambda: done(process, "release"))
    assert done(process, "release") == [{"do": "release", "finger": 0, "pin": True}]
    tab.wait(lambda: tab.run("weft.then((v) => v.hand.shown().pins.length)") == 1)
    tab.wait(lambda: tab.run(lines) == [])
    assert camera(tab) == turned
    for kind in ("mousePressed", "mouseReleased"):
        mouse(tab, kind, (352, 98))
    tab.wait(lambda: done(process, "unpin"))
    assert (
        done(process, "unpin") == [{"do": "unpin", "pin": 7}] and len(done(process, "press")) == 1
    )


def test_a_loose_body_is_taken_and_the_ground_turns_the_camera(played):
    process, tab = played
    turned = camera(tab)
    drag(tab, process, (340, 260), (360, 260))
    tab.wait(lambda: done(process, "release"))
    (press,) = done(process, "press")
    assert press["on"] == "bodies" and press["face"] < process.page().about["play"]["loose"][0][1]
    assert camera(tab) == turned
    process.said.clear()
    for start in (BESIDE, (560, 80)):  # the box, which is not loose, and nothing
        drag(tab, process, start, (start[0] + 40, start[1]))
    tab.wait(lambda: camera(tab) == pytest.approx(turned - 2 * 0.4 * 40))
    assert process.said == []
    tab.click("view")


def test_moves_do_not_pile_up(played):
    """While one answer is waited for, only the newest place is kept."""
    process, tab = played
    mouse(tab, "mousePressed", CLOTH)
    tab.wait(lambda: done(process, "press"))
    with process.news:  # the simulation is busy
        for k in range(40):
            mouse(tab, "mouseMoved", (300 + k, 200))
    last = tab.run("weft.then((v) => [...v.hand.holds.values()][0].place)")
    tab.wait(lambda: done(process, "move") and done(process, "move")[-1]["place"] == last)
    assert len(done(process, "move")) < 6
    mouse(tab, "mouseReleased", (340, 200))
    tab.wait(lambda: done(process, "release"))


def slider(tab, title):
    """Box of the slider with that title."""
    return tab.run(
        "(() => { const rows = [...document.querySelectorAll('.control')];"
        f"const row = rows.find((e) => e.innerText.startsWith({json.dumps(title)}));"
        "row.scrollIntoView(); const b = row.querySelector('input').getBoundingClientRect();"
        "return [b.x, b.y, b.width, b.height]; })()"
    )


def test_a_slider(played):
    process, tab = played
    x, y, width, height = slider(tab, "shear")
    assert "measured 40 N/m" in text(tab, "controls")
    middle = x + width / 2, y + height / 2
    drag(tab, process, middle, (x + 0.75 * width, middle[1]))
    part = (0.75 * width - 8) / (width - 16)  # of the way of a thumb of 16 pixels
    wanted = pytest.approx(40 * 30 ** (2 * part - 1), rel=0.05)
    tab.wait(lambda: done(process, "set") and done(process, "set")[-1]["value"] == wanted)
    assert {m["path"] for m in done(process, "set")} == {"shear"}
    assert "measured 40 N/m" not in text(tab, "controls")
    said = {"do": "set", "path": "shear", "value": 40.0}  # an undo, say
    tab.wait(lambda: process.say([said]) or "measured 40 N/m" in text(tab, "controls"))
    process.say([{"do": "set", "path": "fabric", "value": "silk"}])  # it was not measured so
    tab.wait(lambda: "measured" not in text(tab, "controls"))
    process.say([{"do": "set", "path": "fabric", "value": "linen"}])
    tab.wait(lambda: "measured 40 N/m" in text(tab, "controls"))


def test_buttons_keys_and_saved_files(played):
    process, tab = played
    for key, code in ((" ", 32), (".", 190), ("z", 90)):
        tab.ask("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code)
    tab.click("reset")
    tab.click("save play")
    tab.wait(lambda: "weft run play-play.yaml" in text(tab, "saved"))
    assert [m["do"] for m in process.said] == ["play", "step", "undo", "reset", "save"]
    tab.wait(lambda: text(tab, "play") == "pause")
    tab.ask("Input.dispatchKeyEvent", type="keyDown", key=" ", windowsVirtualKeyCode=32)
    tab.wait(lambda: text(tab, "play") == "play")
    assert [m["do"] for m in process.said][5:] == ["pause"]  # and no button was pressed by the key


def test_the_camera_follows_the_cloth(played):
    process, tab = played
    target = "weft.then((v) => v.camera.target)"
    number = "document.body.dataset.shown"

    def move(by):
        process.x = process.x + np.array(by)
        process.say([])
        tab.wait(lambda: tab.run(number) == str(process.number))
        return pytest.approx(process.x.mean(0), abs=1e-5)

    start, home = process.x, tab.run(target)
    move([0.3, 0, 0])
    assert tab.run(target) == home
    tab.run("document.getElementById('follow-cloth').click()")
    assert tab.run(target) == pytest.approx(process.x.mean(0), abs=1e-5)
    wanted = move([0.2, -0.1, 0.4])
    assert tab.run(target) == wanted
    mouse(tab, "mousePressed", MIDDLE)
    tab.wait(lambda: done(process, "press"))
    held = tab.run(target)
    move([0.1, 0, 0])
    assert tab.run(target) == held  # the hand stays under the pointer
    mouse(tab, "mouseReleased", MIDDLE)
    tab.wait(lambda: done(process, "release"))
    wanted = move(start[0] - process.x[0])
    assert tab.run(target) == pytest.approx(np.subtract(start.mean(0), [0.1, 0, 0]), abs=1e-5)
    tab.click("view")
    assert tab.run(target) == wanted
    tab.run("document.getElementById('follow-cloth').click()")
    assert tab.run(target) == home
