"""Two runs side by side: numbers of both frames, and what is not compared."""

import pytest

import weft
from tests.command import call_weft
from tests.refusals import refused
from weft.base.errors import RunError
from weft.contact import sphere
from weft.contact.settings import SelfContact
from weft.run.quality import Quality
from weft.run.run_comparison import compare


def hung(folder, name="sheet", nx=5, frames=2, fabric="cotton"):
    cloth = weft.join([weft.sheet(nx, 5, 0.2, 0.2, fabric=fabric)], [name])
    ball = sphere(0.05, 0.04, name="ball").move((0, -0.3, 0))
    scene = weft.Scene(cloth, [weft.Pin([0, nx - 1])], bodies=[ball], contact=SelfContact())
    weft.simulate(scene, frames=frames, fps=20, out=folder, progress=False)
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    first, second = hung(folder / "first"), hung(folder / "second", fabric="silk")
    return first, second, hung(folder / "other", "cape", nx=6, frames=3)


def test_numbers_of_both_frames(runs):
    one, two = (Quality(weft.Run(path)) for path in runs[:2])
    found = compare(one, two, 1)
    lines = [q.measure_frame(1) for q in (one, two)]
    of = [line["parts"]["sheet"]["warp"]["p99"] for line in lines]
    assert found.parts["sheet"]["warp %"] == tuple(of) and of[0] != of[1]
    assert found.parts["sheet"]["body mm"][0] == lines[0]["body"]["sheet"]["distance"]["p50"]
    assert found.whole["turn p99"][1] == lines[1]["parts"]["sheet"]["turn"]["p99"]
    assert found.whole["steps"] == (6, 6) and found.left_out == []
    with refused(RunError, "frame", got=9):
        compare(one, two, 9)


def test_each_garment_has_its_girths(runs, monkeypatch):
    """Two garments with a girth of the same name."""
    report = Quality.report

    def with_ease(self, frames=None, **how):
        found = report(self, frames, **how)
        girth = {"name": "hips", "garment": 1.0, "body": 0.9}
        names = {"skirt": 1.0, "coat": 1.2}
        found["frames"][-1]["ease"] = [
            {**girth, "garment_name": name, "garment": length} for name, length in names.items()
        ]
        return found

    monkeypatch.setattr(Quality, "report", with_ease)
    found = compare(*(Quality(weft.Run(path)) for path in runs[:2]))
    assert found.whole["ease skirt hips cm"] == pytest.approx((10.0, 10.0))
    assert found.whole["ease coat hips cm"] == pytest.approx((30.0, 30.0))


def test_what_is_not_compared(runs):
    found = compare(*(Quality(weft.Run(path)) for path in runs[::2]))
    assert found.left_out == [
        "turn, because the meshes differ (25 and 30 vertices)",
        "slip and speed, because the times differ (0.1 and 0.15 s)",
        "parts of the first run only: sheet",
        "parts of the second run only: cape",
    ]
    assert not found.parts and not {"turn p99", "speed m/s"} & found.whole.keys()
    assert "warp p99" in found.whole


def test_the_command_prints_both_and_the_difference(runs, monkeypatch, capsys):
    status, out, _ = call_weft(monkeypatch, capsys, "quality", runs[0], runs[1])
    assert status == 0 and "B - A" in out and "not compared" not in out
    status, out, _ = call_weft(monkeypatch, capsys, "quality", runs[0], runs[2])
    assert status == 0 and "not compared: turn, because" in " ".join(out.split())
    words = ["quality", runs[0], runs[1], "--out", runs[0] / "report"]
    status, _, err = call_weft(monkeypatch, capsys, *words)
    assert status == 2 and "expected one --frame" in err and not (runs[0] / "report").exists()
