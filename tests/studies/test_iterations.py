"""The study of Newton iterations: what is drawn, and what is counted."""

import dataclasses

import numpy as np
import pytest

from studies import iterations
from studies.iterations import KINDS, Counted, count
from tests.studies.builders import quiet, rows

LIMITS = KINDS["limits"]


def test_a_seed_draws_the_same_scene_and_another_one_another():
    first, again, other = (KINDS["drape"].draw(np.random.default_rng(k)) for k in (0, 0, 1))
    assert first == again != other
    assert [c.partition("=")[0] for c in first] == [
        *("step", "cloth.sheet.nx", "cloth.sheet.ny", "cloth.fabric", "contact.friction")
    ]


# 3 s
@pytest.mark.campaign
def test_steps_are_counted_and_those_at_the_limit_are_given_up():
    """With at most 3 iterations, free fall converges in one and the first pull is given up."""
    short = dataclasses.replace(LIMITS, seconds=0.1)
    whole = count(short, ["step=0.02"], "backward_euler")
    assert len(whole.iterations) == 5 and whole.given_up == whole.halved == 0
    few = ["step=0.02", "integrator.backward_euler.max_iterations=2"]
    cut = count(short, few, "backward_euler")
    assert cut.given_up >= 1


# 5 s
@pytest.mark.campaign
def test_the_last_row_is_that_of_all(monkeypatch):
    monkeypatch.setattr(iterations, "count", lambda *_: Counted([1, 3], 1, 1))
    found = rows(iterations.study(quiet, ["drape", "ring"], seeds=2))
    assert [row["runs"] for row in found] == [2, 2, 4]
    assert found[-1]["mean"] == 2 and found[-1]["given up"] == 4
