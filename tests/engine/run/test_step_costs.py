"""Where the time of a run went: steps that were halved and why, the dearest steps, advice."""

import json

import pytest

from tests.engine.test_simulation import jumping, simulate
from tests.together.cli.test_cli import run  # noqa: F401 (fixture)
from weft.run.step_costs import DEAREST, cost_lines, rejections, step_costs

MANIFEST = {
    "fps": 25,
    "steps_per_frame": 2,
    "scene": {"settings": {"max_iterations": 100, "linear": "auto", "effort": "converged"}},
}


def line(step, seconds=1.0, rejected=(), **more):
    """A line of metrics of a step of 20 ms whose elastic terms take half of the time."""
    base = {"step": step, "frame": step, "t": 0.02 * step, "dt": 0.02, "substeps": 1}
    costs = {"iterations": 10, "seconds": seconds, "phases": {"elastic": seconds / 2}}
    return {**base, **costs, "rejected": list(rejected), **more}


def rejected(outcome, part=1.0, seconds=1.0, **more):
    return {"outcome": outcome, "part": part, "iterations": 4, "seconds": seconds, **more}


def test_costs_of_a_run_without_halved_steps():
    costs = step_costs([line(k, seconds=k) for k in range(1, 21)], MANIFEST)
    assert (costs["steps"], costs["iterations"], costs["seconds"]) == (20, 200, 210)
    assert costs["halved"] == 0 and costs["rejected"] == {} and costs["advice"] == []
    assert [s["step"] for s in costs["dearest"]] == list(range(20, 20 - DEAREST, -1))
    assert costs["phases"] == {"elastic": 105, "other": 105}


def test_parts_of_a_step_are_one_step_with_the_tries_of_all():
    tries = [rejected("BLOCKED", place=[0.1, 0.2, 0.3]), rejected("CONVERGED", 1 / 64)]
    lines = [line(1, rejected=tries, dt=0.01), line(1, rejected=[rejected("BLOCKED", 0.5)])]
    costs = step_costs(lines, MANIFEST)
    (step,) = costs["dearest"]
    assert (step["parts"], step["seconds"], step["iterations"]) == (2, 2, 20)
    assert costs["rejected"]["BLOCKED"] == {"tries": 2, "iterations": 8, "seconds": 2}
    assert costs["rejected"]["CONVERGED"]["tries"] == 1 and costs["halved"] == 1
    assert rejections(step) == "BLOCKED near (0.1, 0.2, 0.3), BLOCKED"


@pytest.mark.parametrize(
    "lines, settings, advice",
    [
        # a limit below the default, whose tries took a quarter of the time
        (
            [line(1, 2, [rejected("MAX_ITERATIONS", seconds=1.0)]), line(2, 2)],
            {"max_iterations": 20},
            "max_iterations: 20 rejected tries of 1 s (25% of the time); 100 lets",
        ),
        # every step is halved: the length that succeeds
        (
            [line(k, 2, [rejected("STALLED")], dt=0.01) for k in (1, 2, 3)],
            {},
            "step: 0.02 s is too long for 3 of 3 steps; 0.01 s saves up to 3 s (50% of the time)",
        ),
        # few steps are halved: it is not the step in general
        (
            [line(k, 1) for k in range(1, 10)] + [line(10, 11, [rejected("BLOCKED", seconds=9)])],
            {},
            "rejected tries took 9 s (45% of the time): move pins and bodies more slowly in "
            "frames 10",
        ),
        # cheap tries, also with a low limit of which none took more
        ([line(1, 10, [rejected("BLOCKED", seconds=0.1)])], {}, ""),
        ([line(1, 10, [rejected("BLOCKED", seconds=0.1)])], {"max_iterations": 20}, ""),
        ([line(1, iterations=30)], {}, "effort: steps take 30 iterations on average"),
        ([line(1, phases={"solve": 0.8})], {"linear": "splu"}, "linear: splu took 0.8 s (80%"),
    ],
)
def test_advice_names_the_setting_and_the_time(lines, settings, advice):
    scene = {"settings": {**MANIFEST["scene"]["settings"], **settings}}
    (text,) = step_costs(lines, {**MANIFEST, "scene": scene})["advice"] or [""]
    assert text.startswith(advice) and bool(text) == bool(advice)


def test_shares_of_phases_are_those_of_the_time_if_there_is_any():
    shares = "phases   elastic 50%, other 50%"
    assert shares in list(cost_lines(step_costs([line(1), line(2)], MANIFEST)))
    nothing = list(cost_lines(step_costs([], MANIFEST)))
    assert [text.split()[0] for text in nothing] == ["time", "halved"]


def test_quality_ends_with_where_the_time_went(run, tmp_path):  # noqa: F811
    made = simulate(tmp_path / "run", scene=jumping(), frames=3)
    _, out, _ = run("quality", made.path)
    section = out[out.index("time of the most expensive steps") :]
    assert "halved   2 of 3 steps" in section and "tries ended as MAX_ITERATIONS" in section
    assert "advice   max_iterations: 5 rejected" in section and "verdict" not in section
    costs = json.loads(run("quality", made.path, "--json")[1])["time"]
    assert costs["rejected"]["MAX_ITERATIONS"]["tries"] == 2
