"""Pages of runs: what they hold is the run, within the error they state."""

import json
import re

import numpy as np
import pytest
from typer.testing import CliRunner

import weft
from tests.engine.show.reading import Page, unfolded
from tests.refusals import refused
from weft.base.errors import RunError
from weft.cli.commands import app
from weft.discretization.linear_triangle import linear_triangle
from weft.show.viewer.metric_curves import plots_of
from weft.show.viewer.packing import Packer
from weft.show.viewer.page import content_of
from weft.show.viewer.page_text import page


@pytest.fixture(scope="module")
def read(seen):
    return read_page(seen)


def read_page(run, *frames, **choices):
    return Page(page(content_of(run, *frames, **choices)))


def view(run, *arguments):
    """What the command ``weft view`` does."""
    return CliRunner().invoke(app, ["view", str(run.path), *map(str, arguments)])


def check_values(read, name, found, wanted, rounding=1e-9):
    """Check that values of the page are those of the run, up to half a step of their grid."""
    error = max(read.about["arrays"][name]["step"]) / 2
    assert np.abs(found - wanted).max() <= error * (1 + rounding), name


def face_means(mesh, values):
    """(n,) means of numbers (m,) of faces around the vertices, weighted by area."""
    total, weight = np.zeros(mesh.n_vertices), np.zeros(mesh.n_vertices)
    for i in range(3):
        np.add.at(total, mesh.faces[:, i], mesh.rest_area * values)
        np.add.at(weight, mesh.faces[:, i], mesh.rest_area)
    return total / weight


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_frames_come_back_to_the_bit(kind, rng):
    numbers = rng.integers(np.iinfo(kind).max, size=(9, 50), dtype=kind, endpoint=True)
    packer = Packer()
    for frame in numbers:
        packer.add(frame)
    np.testing.assert_array_equal(unfolded(packer.text(), 9, numbers.itemsize), numbers)


def test_positions_are_those_of_the_run(seen, read):
    count = len(seen)
    cloth, bodies = read.frames("cloth", count), read.frames("bodies", count)
    for name, found, positions in (
        ("cloth", cloth, seen.positions),
        ("bodies", bodies, seen.body_positions),
    ):
        wanted = np.array([positions(k) for k in range(count)])
        step = max(read.about["arrays"][name]["step"])
        assert step == pytest.approx(np.ptp(wanted, axis=(0, 1)).max() / 65535)
        check_values(read, name, found, wanted)


def test_colors_are_those_of_the_run(seen, read):
    count, mesh = len(seen), seen.mesh
    strain, pressure = read.frames("strain", count)[..., 0], read.frames("pressure", count)[..., 0]
    scales = read.about["scales"]
    for k in range(count):
        F = linear_triangle(mesh).deformation_gradient(seen.positions(k))
        strains = 100 * (face_means(mesh, np.linalg.svd(F, compute_uv=False)[:, 0]) - 1)
        wanted = np.clip(strains, scales["strain"]["low"], scales["strain"]["high"])
        check_values(read, "strain", strain[k], wanted, 1e-6)
        wanted = np.clip(seen.pressure(k), 0, scales["pressure"]["high"])
        check_values(read, "pressure", pressure[k], wanted, 1e-6)
    assert np.abs(strain).max() > 0 and pressure.max() > 0


def test_surfaces_are_those_of_the_run(seen, read):
    faces, vertex = read.array("corner_faces", "<u4"), read.array("corner_vertex", "<u4")
    np.testing.assert_array_equal(vertex[faces].reshape(-1, 3), seen.faces)
    uv = read.array("corner_uv", "<f4").reshape(-1, 2)[faces].reshape(-1, 3, 2)
    np.testing.assert_allclose(uv, seen.corner_uv, atol=2e-7)
    region = read.array("corner_region", "<u2")[faces].reshape(-1, 3)
    assert (region == region[:, :1]).all() and read.about["regions"] == ["a", "b </script>"]
    counts = [n for _, n in seen.parts()]
    np.testing.assert_array_equal(region[:, 0], np.repeat([0, 1], counts))
    body = read.array("body_faces", "<u4").reshape(-1, 3)
    np.testing.assert_array_equal(body, seen.body_faces)


def test_contacts_and_pins_are_those_of_the_run(seen, read):
    about, start = read.about["arrays"]["contacts"], 0
    points = read.array("contacts", "<u2").reshape(-1, 3) * about["step"] + about["low"]
    for k, n in enumerate(read.about["contact_counts"]):
        wanted = seen.contacts(k)[0]
        assert len(wanted) == n
        if n:
            check_values(read, "contacts", points[start : start + n], wanted)
        start += n
    assert start == len(points) > 0
    assert [sorted(p["vertices"]) for p in read.about["pins"]] == [[0, 8, 63, 71]]


def test_plots_are_of_the_steps_between_frames():
    lines = [
        {"t": 0.1, "iterations": 2, "kinetic": 5.0, "contact": {"least_distance": 0.3}},
        {"t": 0.2, "iterations": 3, "kinetic": 4.0, "contact": {"least_distance": 0.1}},
        {"t": 0.3, "iterations": 4, "kinetic": float("nan")},
    ]
    assert plots_of(lines, [0.0, 0.2, 0.3]) == {
        "kinetic": [None, 4.0, None],
        "least_distance": [None, 0.1, None],
        "iterations": [None, 5, 4],
    }
    assert plots_of([], [0.0]) == {}


def test_page_asks_nothing_of_a_network(seen, read):
    assert read.asks == []
    script = read.blocks["script"]
    assert not re.search(r"https?:|fetch\(|import\(|XMLHttpRequest|WebSocket|importScripts", script)
    assert "</script" not in read.blocks["about"]


def test_bodies_that_stand_still_are_there_once(seen, read):
    some = read_page(seen, "0:2")
    assert some.about["numbers"] == [0, 1, 2]
    check_values(some, "cloth", some.frames("cloth", 3)[1], seen.positions(1))
    assert some.about["bodies_still"] and not read.about["bodies_still"]
    check_values(some, "bodies", some.frames("bodies", 1)[0], seen.body_positions(1))


def test_a_page_that_gets_too_large_is_refused_before_all_is_read(seen, monkeypatch):
    """By what the compressor has given out: at last to the byte, and here its first bytes count a
    million times.
    """
    whole = content_of(seen)
    size = sum(map(len, whole.blocks.values())) + len(json.dumps(whole.about))
    assert size < len(page(whole)) < size + 60_000  # the rest is the viewer
    with refused(RunError, "size of the page", got="7 frames", hint="`frames=::2`"):
        content_of(seen, most=size - 1)
    monkeypatch.setattr("weft.show.viewer.page.OF_BASE64", 1e6)
    read = []
    with refused(RunError, "size of the page"):
        content_of(seen, most=1e6, on_frame=lambda done, count: read.append((done, count)))
    assert read[-1] == (7, 14)


def test_command_writes_a_page(seen, tmp_path, monkeypatch):
    """By name; beside the run where there is no display, which is said; else it is served."""
    out = tmp_path / "out.html"
    result = view(seen, "--html", out, "--frames", "::3", "--look", "panels,stress-warp,fit")
    assert result.exit_code == 0 and "3 frames" in result.output, result.output
    about = Page(out.read_text()).about
    assert about["numbers"] == [0, 3, 6] and list(about["scales"]) == ["stress-warp", "fit"]
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    result = view(seen)
    beside = seen.path.with_name("run.html")
    assert beside.exists() and "no display here" in result.output
    monkeypatch.setenv("DISPLAY", ":7")
    asked = []
    monkeypatch.setattr("webbrowser.open", lambda url: asked.append(url) or True)
    monkeypatch.setattr("weft.show.viewer.run_server.ViewerServer.serve", lambda self: None)
    beside.unlink()
    result = view(seen, "--port", 0, "--look", "fit")
    assert result.exit_code == 0 and asked[0] in result.output, result.output
    assert asked[0].startswith("http://127.0.0.1:")
    assert not beside.exists()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--html", "a.txt"], "expected .html"),
        (["--frames", "99"], "frames of 0 to 6"),
        (["--look", "strian"], "did you mean 'strain'"),
        (["--web", "--html", "a.html"], "--html and --web"),
        (["--web", "--look", "a,b"], "a single look"),
    ],
)
def test_errors_are_named(seen, arguments, word):
    result = view(seen, *arguments)
    assert isinstance(result.exception, RunError) and word in str(result.exception)


def test_splines(tmp_path):
    """Of splines the page has the triangles that are asked for, and no pressure at them."""
    scene = weft.Scene(weft.spline_sheet(4, 4), step=0.02)
    run = weft.simulate(scene, frames=1, out=tmp_path / "run", progress=False)
    read = read_page(run, density=3)
    assert read.about["vertices"] == len(run.positions(0, 3)) and read.about["pins"] == []
    check_values(read, "cloth", read.frames("cloth", 2)[1], run.positions(1, 3))
    assert "bodies" not in read.about["arrays"]
