"""The pages of ``weft play`` and ``weft view`` in windows of many sizes, in a real browser."""

import time

import pytest

from tests.engine.live.fake import FakeProcess
from tests.engine.live.test_server import served
from tests.engine.show.browsing import Tab, browser_or_skip
from tests.engine.show.pictures import follow, serving
from weft.live import server as play_server

pytestmark = pytest.mark.browser
FIRST = (1920, 1080)  # every other size is reached by shrinking the window
SIZES = [(1366, 768), (1280, 800), (1280, 720), (844, 390), (390, 844)]
BUTTONS = {
    "play": ["play", "step", "undo", "restart", "reset", "save-scene", "save-play"],
    "view": ["play", "reset"],
}
LISTEN = """
window.clicks = [];
document.addEventListener('click', (e) => clicks.push(e.target.id), true);
"""
# Controls that a person sees, each with the middle of its box, and what is on top there.
CONTROLS = """
[...document.querySelectorAll("button, #row select, #row input, #frame, #plot, #desk")]
  .filter((e) => e.checkVisibility()).map((e) => {
    const { left, right, top, bottom } = e.getBoundingClientRect();
    const x = (left + right) / 2, y = (top + bottom) / 2, there = document.elementFromPoint(x, y);
    const inside = left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
    return { id: e.id, button: e.tagName === "BUTTON", x, y, inside, free: e.contains(there) };
  })"""


@pytest.fixture(scope="module", params=["play", "view"])
def shown(request, seen, tmp_path_factory):
    """Name of a page, and the tab that shows it."""
    browser_or_skip()
    folder = tmp_path_factory.mktemp(request.param)
    run = follow(seen.path)
    patch = pytest.MonkeyPatch()
    patch.setattr(play_server, "ABSENT", 600.0)  # a browser that draws by the processor is slow
    process = FakeProcess(run)
    serve = served(process) if request.param == "play" else serving(run)
    with serve as server, Tab(folder, server.url, size=FIRST) as tab:
        process.say([])
        tab.wait(lambda: tab.run("document.body.dataset.shown"))
        tab.run(LISTEN)
        yield request.param, tab
    patch.undo()


def click(tab, place):
    for kind in ("mousePressed", "mouseReleased"):
        where = {"x": place[0], "y": place[1]}
        tab.ask("Input.dispatchMouseEvent", type=kind, **where, button="left", clickCount=1)


def box(tab, name):
    """Left, top, right and bottom [pixels] of an element."""
    get = f"document.getElementById('{name}').getBoundingClientRect()"
    return tab.run(f"(({{ left, top, right, bottom }}) => [left, top, right, bottom])({get})")


@pytest.mark.parametrize("size", SIZES, ids="{0[0]}x{0[1]}".format)
def test_every_control_is_seen_and_every_button_is_clicked(shown, size):
    name, tab = shown
    tab.resize(*FIRST)
    tab.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    tab.resize(*size)
    tab.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    controls = tab.run(CONTROLS)
    assert [c["id"] for c in controls if not (c["inside"] and c["free"])] == []
    assert sorted(c["id"] for c in controls if c["button"]) == sorted(BUTTONS[name])
    tab.run("clicks.length = 0")
    for button in BUTTONS[name]:
        found = next(c for c in tab.run(CONTROLS) if c["id"] == button)
        click(tab, (found["x"], found["y"]))
    assert tab.run("clicks") == BUTTONS[name]
    left, top, right, bottom = box(tab, "picture")
    assert 0 == left < right <= size[0] and 0 == top < bottom <= box(tab, "bar")[1]
    # The picture stays the larger part of a phone's window.
    assert (right - left) * (bottom - top) > 0.4 * size[0] * size[1]
    assert tab.run("document.documentElement.scrollWidth") == size[0]
    drawn = "(({ width, height }) => width / height)(document.getElementById('picture'))"
    wanted = pytest.approx((right - left) / (bottom - top), rel=0.02)
    tab.wait(lambda: tab.run(drawn) == wanted)


def test_no_request_of_the_page_is_refused(shown):
    tab = shown[1]
    time.sleep(0.5)  # the icon is asked for after the page
    tab.run("0")
    assert tab.log == []
