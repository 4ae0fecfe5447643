"""`python -m benchmarks sweep`: its folders are what they say, and its measures are named."""

import pytest

from benchmarks import sweep
from benchmarks.runner import names


def test_a_folder_of_many_samples(tmp_path):
    """Nine tenths done, one tenth to run: it asserts that itself."""
    found = {m.name: m for m in sweep._many(tmp_path, 200)}
    assert "sweep" in names() and len(found) == 4
    whole = found.pop("sweep/200 samples, all three")
    assert whole.target == 5.0 and whole.value == sum(m.value for m in found.values())


def test_efficiency_counts_warm_workers_alone(tmp_path, monkeypatch):
    """The first sample of every worker, which starts it, is left out of both sums."""
    monkeypatch.setattr(sweep, "SCENE", sweep.SCENE.replace("33", "5").replace("1 s", "0.1 s"))
    monkeypatch.setattr(sweep, "cores", lambda: 2)
    timed, told = sweep.timed, []
    monkeypatch.setattr(sweep, "timed", lambda *a: told.append(timed(*a)) or told[-1])
    found = {m.name.removeprefix("sweep/"): m.value for m in sweep._efficiency(tmp_path, 5)}
    (alone, _), (both, wall) = told
    assert (len(alone), len(both)) == (4, 3)
    assert found["efficiency"] == pytest.approx(sum(s.seconds for s in alone) / (2 * wall))
    assert found["part of the workers' time that is samples"] == pytest.approx(
        sum(s.seconds for s in both) / (2 * wall)
    )
    assert found["start with first step, median"] > 0
