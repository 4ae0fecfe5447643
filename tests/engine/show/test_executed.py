"""Notebooks that are executed: a kernel of their own, and the outputs that its cells have."""

import re

import pytest

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
    "def fail(step):\n    raise OSError('no more')\n"
    "from weft.run.progress import progress_bar\n"
    "with progress_bar(4) as update:\n    fail(None)",
]


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The notebook, which a Python of its own ran: that takes 5 s and more to start."""
    folder = tmp_path_factory.mktemp("notebook")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    client = nbclient.NotebookClient(
        book,
        timeout=1800,
        startup_timeout=600,
        iopub_timeout=600,
        allow_errors=True,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return book, folder


def line_of(cell):
    """The line of a progress bar that a notebook shows at last, without codes of a terminal."""
    shown = "".join(o["text"] for o in cell.outputs if o.get("name") == "stderr")
    assert "ipywidgets" not in shown
    *notices, last = re.sub(r"\x1b\[.*?[@-~]", "", shown).rstrip("\n").split("\n")
    assert all("compiling" in notice for notice in notices)
    return last.rpartition("\r")[2]


def test_progress_is_one_line_that_is_replaced(executed):
    """And stays where a simulation stopped: no cell but the last has an error."""
    *cells, failed = executed[0].cells
    assert [o for c in cells for o in c.outputs if o["output_type"] == "error"] == []
    assert {o.get("name") for o in cells[1].outputs} == {"stderr"}
    assert re.match(r"frame 4/4 .* left 0:00:00 step 2/2", line_of(cells[1]))
    assert failed.outputs[-1]["ename"] == "OSError" and line_of(failed).startswith("frame 0/4")


def test_scene_and_run_show_themselves(executed):
    book, _ = executed
    for cell, word in ((0, "cotton"), (2, "kinetic energy")):
        (shown,) = [o["data"]["text/html"] for o in book.cells[cell].outputs if "data" in o]
        assert "data:image/png;base64," in shown and word in shown
    assert shown.count("<polyline") == 2  # energy and iterations, by frame
