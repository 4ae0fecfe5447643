"""Stress that a run did not record, from the laws of its scene file."""

import pytest

import weft
from tests.refusals import refused
from weft.base.errors import RunError
from weft.run.recorded_scene import physics_of

SCENE = "cloth: {sheet: {nx: 3, ny: 3}}\npins: [{corners: top}]\nseconds: 0.02\nfps: 50\n"


@pytest.fixture
def run(tmp_path):
    file = tmp_path / "hang.yaml"
    file.write_text(SCENE)
    return weft.simulate(file, out=tmp_path / "run", progress=False)


@pytest.mark.parametrize("look", ["stress", "stress-shear", "stress-warp"])
def test_looks_of_stress_need_the_laws(run, look, tmp_path):
    physics = physics_of(run, [look])
    assert physics is not None and len(physics.laws) == 1
    run.render(tmp_path / "a.png", frame=1, look=look, physics=physics)


def test_other_looks_need_none(run):
    assert physics_of(run, ["strain", "panels"]) is None


def test_a_field_without_laws_is_named_once(run):
    with refused(RunError, "field stress", got="no law of the membrane"):
        run.field("stress", 1)
