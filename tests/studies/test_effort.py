"""The study of effort, tiny: what it measures, and what it makes of it."""

import dataclasses

import numpy as np
import pytest

import weft
from studies import effort, runner
from studies.effort_runs import (
    Effort,
    apart,
    run,
)
from studies.effort_scenes import CASES
from tests.refusals import refused
from tests.stepping import stepped
from tests.studies.builders import quiet, rows
from weft.base.errors import WeftError

pytestmark = pytest.mark.campaign

DRAPE, _, CROSSED = CASES
SHORT = dataclasses.replace(CROSSED, seconds=0.24)  # the strips meet at about 0.13 s
SOLVED, STOPPED, ONE = Effort(0.02, "converged"), Effort(0.02, 2), Effort(0.005, 1)


def by_effort(study):
    return {row[study.table.columns[1]]: row for row in rows(study)}


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


def test_the_study(tmp_path):
    study = effort.study(quiet, 9, 2, [SHORT], (SOLVED, STOPPED, ONE))
    row = by_effort(study)
    reference, stopped, one = (row[e.label] for e in (SOLVED, STOPPED, ONE))
    for what in ("height off at end [mm]", "outline off at end [%]", "vertices off at end [mm]"):
        assert reference[what] == (0.0, 0.0)
        assert stopped[what].mean > 0 and one[what].mean > 0
        assert row[f"{SOLVED.label}, {effort.OTHER}"][what].mean > 0
    # So many matrices a step, and up to four times that where something is pressed.
    assert 48 <= one["iterations"].mean <= 4 * 48
    assert stopped["iterations"].mean < reference["iterations"].mean
    assert reference["intersections"] == stopped["intersections"] == 0
    assert all(r["runs that failed"] == 0 for r in row.values())
    # What the table calls kinetic energy is that of the velocities at the instant of impact.
    model, state, _ = stepped(STOPPED.of(SHORT.make(9, 0)), 10, 0.02)
    impact = run(SHORT, STOPPED, 9, 0).impact
    assert impact.kinetic == pytest.approx(0.5 * np.sum(model.mass * (state.v**2).sum(1)))
    assert impact.gravity == pytest.approx(9.81 * np.sum(model.mass * state.x[:, 1]))
    files = study.write(tmp_path)
    assert [f.name for f in files] == ["effort.csv", "effort-crossed.png", "effort.png"]
    assert study.pictures["crossed"].shape == (480, 3 * 240, 3)


def test_only_studies_that_have_starts_take_a_number_of_them():
    with refused(
        WeftError, "--seeds", got="pritchard-macri", expected="effort and iterations (starts)"
    ):
        runner.run("pritchard-macri", seeds=2)
    with refused(WeftError, "--seeds", got=0, expected="1"):
        runner.run("effort", seeds=0)
