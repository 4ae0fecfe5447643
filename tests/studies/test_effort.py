"""The study of effort, tiny: what it measures, and what it makes of it."""

import dataclasses
import sys

import numpy as np
import pytest

import weft
from studies import effort, runner
from studies.effort_runs import (
    REST,
    ClothMeasures,
    Effort,
    Trace,
    apart,
    motion_apart,
    rest_after,
    run,
)
from studies.effort_scenes import CASES, SHIFT
from studies.study import Several, StudyTable
from tests.refusals import refused
from weft.base.errors import SimulationError, WeftError
from weft.scene.prepare import prepare

DRAPE, _, CROSSED = CASES
SHORT = dataclasses.replace(CROSSED, seconds=0.24)  # the strips meet at about 0.13 s
SOLVED, STOPPED, ONE = Effort(0.02, "converged"), Effort(0.02, 2), Effort(0.005, 1)
STILL = ClothMeasures(np.zeros((0, 3)), (), 0.0, 0.0, 0.0)
EMPTY = Trace(SOLVED, 0, 0.0, 0, np.arange(4.0), np.zeros(4), STILL, STILL, 0.0, 0)


def quiet(_):
    pass


def rows(study):
    return {row[1]: dict(zip(study.table.columns, row)) for row in study.table.rows}


def test_distances_of_shapes_that_are_known():
    """A level sheet, raised and shifted: the height of the one, twice the share of the other."""
    cloth = weft.sheet(9, 9, 1.0, 0.5)
    x, faces = cloth.vertices, cloth.faces
    raised = apart(x + [0, 1e-3, 0], x, faces, axis=1)
    assert raised == pytest.approx((1e-3, 1e-3, 0.0), rel=1e-3)
    shifted = apart(x + [0.1, 0, 0], x, faces, axis=1)
    assert shifted.vertices == pytest.approx(0.1)
    assert shifted.heights == pytest.approx(0.0, abs=1e-6)
    assert shifted.outline == pytest.approx(0.2, abs=0.02)


def test_vertices_that_change_places_are_no_other_shape():
    """What the distance of vertices calls 57 cm, a turn by a right angle, is the same drape."""
    cloth = weft.sheet(9, 9, 1.0, 1.0)
    x = cloth.vertices + np.array([0, 1, 0]) * 0.1 * (cloth.vertices**2).sum(1)[:, None]
    turned = apart(x[:, [2, 1, 0]] * [1, 1, -1], x, cloth.faces, axis=1)
    assert turned.vertices > 0.4
    assert turned.heights < 2e-3 and turned.outline < 0.02  # pixels, and the triangles' diagonals


def test_motion_is_compared_over_the_whole_run():
    """Cloth that halts half way, and cloth that never moves."""
    moving = np.array([0.0, 1.0, 2.0, 3.0])

    def trace(kinetic):
        return dataclasses.replace(EMPTY, kinetic=np.asarray(kinetic))

    assert motion_apart(trace(moving), trace(moving)) == 0.0
    assert motion_apart(trace([0.0, 1.0, 2.0, 0.0]), trace(moving)) == pytest.approx(0.5)
    assert motion_apart(trace(0 * moving), trace(moving)) == pytest.approx(1.0)


def test_rest_is_the_last_time_that_it_moves():
    t = np.arange(6.0)
    speeds = REST * np.array([0.0, 2.0, 0.5, 2.0, 0.5, 0.5])
    assert rest_after(t, 0.5 * 0.3 * speeds**2, 0.3) == 4.0
    assert rest_after(t[:4], 0.5 * 0.3 * speeds[:4] ** 2, 0.3) == float("inf")


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_starts_differ_by_millimeters(case):
    """And are the same for the same number; nothing intersects in them."""
    one, two, again = (case.make(9, seed) for seed in (1, 2, 1))
    way = np.linalg.norm(one.cloth.vertices - two.cloth.vertices, axis=1)
    assert 0 < way.max() < 5 * SHIFT
    np.testing.assert_array_equal(one.cloth.vertices, again.cloth.vertices)
    state = prepare(one).state
    assert len(prepare(one).model.contact.crossings(state.x, 0.0)) == 0


def test_the_study(tmp_path, monkeypatch):
    study = effort.study(quiet, 9, 2, [SHORT], (SOLVED, STOPPED, ONE))
    row = rows(study)
    reference, stopped, one = (row[e.label] for e in (SOLVED, STOPPED, ONE))
    for what in ("height off at end [mm]", "outline off at end [%]", "vertices off at end [mm]"):
        assert reference[what] == (0.0, 0.0)
        assert stopped[what].mean > 0 and one[what].mean > 0
        assert row[f"{SOLVED.label}, {effort.OTHER}"][what].mean > 0
    # So many matrices a step, and up to four times that where something is pressed.
    assert 48 <= one["iterations"].mean <= 4 * 48
    assert 12 < stopped["iterations"].mean < reference["iterations"].mean
    assert reference["intersections"] == stopped["intersections"] == 0
    assert all(r["runs that failed"] == 0 for r in row.values())
    # What the table calls kinetic energy is that of the velocities at the instant of impact.
    scene = STOPPED.of(SHORT.make(9, 0))
    ready = prepare(scene)
    model, stepper, state = ready.model, ready.stepper, ready.state
    memory = stepper.init(model, state)
    for _ in range(10):
        state, memory, report = stepper.step(model, state, memory, 0.02)
        assert report.iterations <= 4 * 2
    trace = run(SHORT, STOPPED, 9, 0)
    assert trace.impact.kinetic == pytest.approx(0.5 * np.sum(model.mass * (state.v**2).sum(1)))
    assert trace.impact.gravity == pytest.approx(9.81 * np.sum(model.mass * state.x[:, 1]))
    # Without matplotlib the table and the pictures are written all the same.
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    files = study.write(tmp_path)
    assert [f.name for f in files] == ["effort.csv", "effort-crossed.png"]
    assert study.pictures["crossed"].shape == (480, 3 * 240, 3)
    monkeypatch.undo()
    assert study.write(tmp_path)[-1].name == "effort.png"


def test_runs_that_fail_are_counted_and_left_out(monkeypatch):
    def fails(case, asked, n, seed):
        if asked == ONE or (asked == STOPPED and seed == 1):
            raise SimulationError("step", got="STALLED")
        return run(case, asked, n, seed)

    monkeypatch.setattr(effort, "run", fails)
    study = effort.study(quiet, 9, 2, [SHORT], (SOLVED, STOPPED, ONE))
    row = rows(study)
    assert row[ONE.label]["runs that failed"] == 2 and row[ONE.label]["CPU [s]"] == "-"
    assert row[STOPPED.label]["runs that failed"] == 1
    assert row[STOPPED.label]["kinetic at impact [mJ]"].spread == 0.0
    assert "3 more failed" in study.findings[-1] and ONE.label not in study.findings[0]
    assert study.pictures["crossed"].shape == (480, 2 * 240, 3)


def test_a_table_of_several_runs():
    """Mean and spread are two columns for machines, one for people."""
    table = StudyTable(("what", "a [m]"), [["x", Several.of([1.0, 3.0])], ["y", "-"]])
    assert table.csv() == 'what,a [m],"a [m], spread"\nx,2,1.4142136\ny,-,\n'
    assert "2 ± 1.4" in table.text()
    assert Several.of([2.0]) == (2.0, 0.0)


def test_only_studies_that_have_starts_take_a_number_of_them():
    with refused(WeftError, "--seeds", got="pritchard-macri", expected="effort (starts)"):
        runner.run("pritchard-macri", seeds=2)
    with refused(WeftError, "--seeds", got=0, expected="1"):
        runner.run("effort", seeds=0)
