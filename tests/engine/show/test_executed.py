"""Notebooks that are executed: a kernel of their own, and the outputs that its cells have."""

import html
import re

import numpy as np
import pytest

from tests.engine.show.browsing import Tab
from tests.engine.show.reading import Page

nbclient = pytest.importorskip("nbclient", reason="no nbclient: pip install 'weft[dev]'")
nbformat = pytest.importorskip("nbformat")
pytest.importorskip("ipykernel", reason="no ipykernel: pip install 'weft[dev]'")

CELLS = [
    "import weft\n"
    "cloth = weft.sheet(9, 9, fabric='cotton')\n"
    "scene = weft.Scene(cloth, pins=[weft.Pin(cloth.corners('top-left'))])\n"
    "scene",
    "run = weft.simulate(scene, frames=4, out='hang', fsync=False)",
    "run",
    "run.view('::2', height=320, looks=['strain', 'speed'])",
    "def fail(step):\n    raise OSError('no more')\n"
    "from weft.run.progress import progress_bar\n"
    "with progress_bar(4) as update:\n    fail(None)",
]


class Client(nbclient.NotebookClient):
    """Keeps every message that a kernel sends for a cell."""

    def process_message(self, msg, cell, cell_index):
        self.messages = getattr(self, "messages", [])
        self.messages.append((cell_index, msg["msg_type"], msg["content"]))
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notebook")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    client = Client(
        book,
        timeout=1800,
        startup_timeout=600,
        iopub_timeout=600,
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return book, client.messages, folder


def outputs(book, cell, mime="text/html"):
    return [o["data"][mime] for o in book.cells[cell].outputs if mime in o.get("data", {})]


def test_cells_have_no_errors_but_the_one(executed):
    book, _, _ = executed
    wrong = [o for c in book.cells[:4] for o in c.outputs if o["output_type"] == "error"]
    assert wrong == []
    assert book.cells[4].outputs[-1]["ename"] == "OSError"


def test_progress_is_one_output_that_is_replaced(executed):
    book, messages, _ = executed
    assert [o["output_type"] for o in book.cells[1].outputs] == ["display_data"]
    (shown,) = outputs(book, 1)
    assert re.search(r'<progress value="4.000" max="4"', shown)
    assert re.search(r"frame 4/4 +\d+\.\d s<", shown)
    kinds = [kind for cell, kind, _ in messages if cell == 1 and "display_data" in kind]
    assert kinds[0] == "display_data" and set(kinds[1:]) == {"update_display_data"}
    assert outputs(book, 1, "text/plain")[0].startswith("frame 4/4")
    assert not [kind for cell, kind, _ in messages if cell == 1 and kind == "stream"]


def test_progress_says_that_a_simulation_stopped(executed):
    book, _, _ = executed
    (shown,) = outputs(book, 4)
    assert "frame 0/4" in shown and "stopped after" in shown and "OSError" in shown


def test_scene_and_run_show_themselves(executed):
    book, _, _ = executed
    for cell, word in ((0, "cotton"), (2, "kinetic energy")):
        (shown,) = outputs(book, cell)
        assert "data:image/png;base64," in shown and word in shown
    assert outputs(book, 2)[0].count("<polyline") == 2  # energy and iterations, by frame


def test_view_is_the_page_of_these_frames(executed):
    book, _, _ = executed
    (shown,) = outputs(book, 3)
    inside = html.unescape(re.search(r'srcdoc="([^"]*)"', shown)[1])
    page = Page(inside)
    assert page.about["numbers"] == [0, 2, 4] and set(page.about["scales"]) == {"strain", "speed"}


@pytest.mark.browser
def test_outputs_in_a_browser(executed):
    """The outputs, one below the other, as a browser shows them."""
    book, _, folder = executed
    shown = "<hr>".join(outputs(book, cell)[0] for cell in range(4))
    file = folder / "outputs.html"
    file.write_text(f"<!doctype html><body style='font-family: sans-serif'>{shown}</body>")
    with Tab(folder, file.as_uri(), size=(1000, 1150)) as tab:
        frame = "document.querySelector('iframe')"
        tab.wait(lambda: tab.run(f"{frame}?.contentDocument?.body?.dataset.shown") == "0")
        tab.wait(lambda: viewer(tab).std(axis=(0, 1)).max() > 12)
        (folder / "outputs.png").write_bytes(tab.png())
        assert "frame 4/4" in tab.text() and "kinetic energy" in tab.text()
        assert tab.run("document.querySelector('progress').position") == 1


def viewer(tab):
    """(h,w,3) of the frame that the viewer is in."""
    box = tab.run(
        "(() => { const b = document.querySelector('iframe').getBoundingClientRect();"
        "return [b.x, b.y, b.width, b.height]; })()"
    )
    x, y, w, h = (int(v) for v in box)
    return np.asarray(tab.picture()[y : y + min(h, 200), x : x + w])
