"""The page in a real browser, without a window: it draws, and has the numbers of the run."""

import base64
import subprocess

import numpy as np
import pytest

from tests.engine.show.browsing import Tab, browser_or_skip
from weft.show.viewer.page import content_of
from weft.show.viewer.page_text import page

pytestmark = pytest.mark.browser

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--hide-scrollbars",
    "--window-size=900,640",
    "--virtual-time-budget=15000",
)
HIGH = 640  # [pixels]


@pytest.fixture(scope="module")
def browser():
    return browser_or_skip()


def run_browser(browser, folder, url, *how):
    command = [browser, *FLAGS, f"--user-data-dir={folder / 'profile'}", *how, url]
    return subprocess.run(command, capture_output=True, text=True, timeout=1800, check=True).stdout


def write_page(folder, content):
    """Write the page and return its address."""
    (folder / "page.html").write_text(page(content))
    return (folder / "page.html").as_uri()


def test_page_shows_the_run(seen, tmp_path):
    content = content_of(seen)
    url = write_page(tmp_path, content)
    with Tab(tmp_path, f"{url}#frame=4&look=strain&contacts=1&pins=1") as tab:
        tab.wait(lambda: tab.run("document.body.dataset.shown") == "4")
        x = tab.run("window.weft.then((viewer) => [...viewer.positions(6)])")
    error = max(content.about["arrays"]["cloth"]["step"]) / 2
    off = np.abs(np.array(x).reshape(-1, 3) - seen.positions(-1)).max()
    assert off <= error + 1e-6  # of numbers in single precision


def test_damaged_page_says_so(browser, seen, tmp_path):
    content = content_of(seen, "0")
    content.blocks["cloth"] = base64.b64encode(b"nothing").decode()
    dom = run_browser(browser, tmp_path, write_page(tmp_path, content), "--dump-dom")
    assert "cannot show this run" in dom
