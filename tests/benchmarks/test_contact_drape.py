"""The scenes of `python -m benchmarks contact-drape`: what is run, and what is made of it."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from benchmarks import contact_drape, drapes
from benchmarks.drapes import DrapeScene, Spent
from benchmarks.measure import BenchSelection
from weft.scene.prepare import prepare

SPENT = Spent(
    seconds=0.4,
    steps=20,
    wall=3.0,
    cpu=2.0,
    iterations=100,
    phases={"solve": 1.0, "broad": 0.5},
    vertices=9,
    contacts=7,
    crossings=0,
    failed=0,
    peak=2.0**30,
)


def test_times_are_of_what_their_unit_says():
    """Of three runs the median counts, with all that belongs to it."""
    drape = DrapeScene("t", None, 0.4, 0.2, 1.0, {"converged": 4.0}, threads=1)
    others = [replace(SPENT, cpu=c, iterations=int(c)) for c in (8.0, 1.0)]
    m = said(drape, runs=[others[0], SPENT, others[1]])
    assert m["CPU"].value == pytest.approx(5.0) and m["CPU"].ok is False
    assert m["CPU"].unit == "s / s of cloth" and m["wall"].value == pytest.approx(7.5)
    assert m["wall"].target is None
    assert m["iterations"].value == 5 and m["iteration"].value == pytest.approx(20.0)
    assert m["iteration, solve"].value == pytest.approx(10.0 * 2.0 / 3.0)  # of CPU, as of wall
    assert m["iteration, all else"].value == pytest.approx(10.0)
    assert m["peak memory"].value == 1.0


def test_goals_of_several_threads_are_of_wall_time():
    m = said(DrapeScene("t", None, 9.0, 0.4, None, {"converged": 4.0}, memory=0.5))
    assert m["wall"].unit == "s / step of 20 ms, first 0.4 s"
    assert m["wall"].value == pytest.approx(3.0 / 20)
    assert m["wall"].target == 4.0 and m["CPU"].target is None
    assert m["peak memory"].ok is False


def said(drape, effort="converged", seconds=0.4, runs=(SPENT,)):
    measures = contact_drape.measures("d", drape, effort, seconds, runs)
    return {m.name.removeprefix("d, "): m for m in measures}


def test_a_run_that_fails_is_a_line(monkeypatch):
    def apart(*_):
        raise RuntimeError("demo, converged: out of memory")

    monkeypatch.setattr(contact_drape, "apart", apart)
    first, _ = contact_drape.contact_drape(BenchSelection(("demo",)))
    assert "out of memory" in first.name and first.ok is False


@pytest.mark.campaign
def test_a_run():
    """Short, interactive steps of 10 ms; no phase is counted twice."""
    drape = DrapeScene("t", partial(drapes.demo, 9), 1.6, 0.2, 1.0)
    spent = drapes.run(drape, "interactive", 0.2)
    assert spent.steps == 20 and spent.vertices == 81 and spent.seconds == pytest.approx(0.2)
    assert 20 <= spent.iterations <= 8 * (20 + 2 * spent.failed)
    assert spent.crossings == 0 and spent.contacts > 0
    assert 0.3 * spent.wall < sum(spent.phases.values()) <= spent.wall
    assert {"elastic", "solve", "broad", "ccd"} <= set(spent.phases)


@pytest.mark.campaign
def test_a_run_apart_fails_with_what_it_said():
    with pytest.raises(RuntimeError, match="demo, quick: .*effort"):
        drapes.apart("demo", "quick", 0.02)


@pytest.mark.parametrize("make", [drapes.pile, drapes.layers])
def test_stacks_start_apart(make):
    """No pair is within the gap, so that nothing pushes before anything has moved."""
    scene = make(6, "interactive")
    model = prepare(scene).model
    x = prepare(scene).state.x
    assert len(model.contact.crossings(x)) == 0
    assert scene.step == pytest.approx(1e-2)
    heights = np.sort([x[p.vertices, 1].min() for p in scene.cloth.parts])
    assert (np.diff(heights) > 1.2 * scene.contact.gap).all()
