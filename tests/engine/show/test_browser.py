"""The page in a real browser, without a window: it draws, and has the numbers of the run."""

import base64
import json
import re
import subprocess

import numpy as np
import pytest

from tests.engine.show.browsing import browser_or_skip
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
WIDE, HIGH = 900, 640
# Added to the page: waits for the viewer, then writes what the browser has into the document.
PROBE = """
<script>
window.addEventListener("load", async () => {
  const viewer = await window.weft;
  const text = JSON.stringify({ x: [...viewer.positions(COUNT - 1)], frame: viewer.state.frame });
  const wait = () => {
    if (document.body.dataset.shown === undefined) return setTimeout(wait, 20);
    document.body.dataset.probe = text;
    document.body.dataset.picture = document.getElementById("picture").toDataURL();
  };
  requestAnimationFrame(() => requestAnimationFrame(wait));
});
</script>"""


@pytest.fixture(scope="module")
def browser():
    return browser_or_skip()


def run_browser(browser, folder, url, *how):
    command = [browser, *FLAGS, f"--user-data-dir={folder / 'profile'}", *how, url]
    return subprocess.run(command, capture_output=True, text=True, timeout=1800, check=True).stdout


def visit(browser, tmp_path, content, fragment):
    """What the document says after it was drawn."""
    probe = PROBE.replace("COUNT", str(len(content.about["numbers"])))
    file = tmp_path / "page.html"
    file.write_text(page(content).replace("</body>", probe + "</body>"))
    dom = run_browser(browser, tmp_path, f"{file.as_uri()}#{fragment}", "--dump-dom")
    data = dict(re.findall(r'data-(\w+)="([^"]*)"', re.search(r"<body[^>]*>", dom)[0]))
    assert "probe" in data, data
    return data, json.loads(data["probe"].replace("&quot;", '"'))


def test_page_shows_the_run(browser, seen, tmp_path):
    content = content_of(seen)
    data, probe = visit(browser, tmp_path, content, "frame=4&look=strain&contacts=1&pins=1")
    assert data["shown"] == "4" and probe["frame"] == 4
    error = max(content.about["arrays"]["cloth"]["step"]) / 2
    off = np.abs(np.array(probe["x"]).reshape(-1, 3) - seen.positions(-1)).max()
    assert off <= error + 1e-6  # of numbers in single precision


def test_damaged_page_says_so(browser, seen, tmp_path):
    content = content_of(seen, "0")
    content.blocks["cloth"] = base64.b64encode(b"nothing").decode()
    file = tmp_path / "page.html"
    file.write_text(page(content))
    dom = run_browser(browser, tmp_path, file.as_uri(), "--dump-dom")
    assert "cannot show this run" in dom
