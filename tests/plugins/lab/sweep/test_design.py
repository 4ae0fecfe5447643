"""Designs: what they cover, that more samples keep the old ones, and what they refuse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from tests.plugins.lab.sweep.conftest import varied
from tests.refusals import refused
from weft.base.errors import SweepError
from weft.base.yaml_lines import parse_yaml
from weft.plugins.lab.sweep.design import MOST_SAMPLES, Design
from weft.plugins.lab.sweep.file import read_sweep
from weft.plugins.lab.sweep.plan import plan_of, sample_of
from weft.plugins.lab.sweep.varied import Choice, yaml_text

BOX = {"a": varied("a", {"from": "10 cm", "to": "20 cm"}), "b": Choice(("x", "y", "z"))}


def made(name, n, **more):
    return Design(name, BOX, n, **more)


@pytest.mark.parametrize("name", ["random", "sobol"])
@pytest.mark.parametrize("n", [5, 13])
def test_more_samples_keep_the_first(name, n):
    few, many = (list(made(name, k, seed=7).rows()) for k in (n, 21))
    assert few == many[: len(few)] and len(few) < len(many)
    assert few != list(made(name, n, seed=8).rows())


def test_latin_hypercube_has_one_point_in_every_stratum_of_each_round():
    first, both = (
        made("latin_hypercube", 10).points([10]),
        made("latin_hypercube", 16).points([10, 6]),
    )
    np.testing.assert_array_equal(first, both[:10])
    for points in (both[:10], both[10:]):
        strata = np.sort((points * len(points)).astype(int), axis=0)
        np.testing.assert_array_equal(strata, np.arange(len(points))[:, None] * [1, 1])


def test_sobol_fills_better_than_random():
    fields = {k: varied(k, {"from": 0.0, "to": 1.0}) for k in "abcd"}
    sobol, random = (
        np.mean([qmc.discrepancy(Design(n, fields, 128, s).points()) for s in range(5)])
        for n in ("sobol", "random")
    )
    assert sobol < 0.3 * random


def test_grid_has_all_combinations():
    field = varied("n", {"from": 10, "to": 20, "steps": 3, "whole": True})
    rows = list(Design("grid", {"n": field, "b": BOX["b"]}).rows())
    assert [(r["n"], r["b"]) for r in rows] == [(n, b) for n in (10, 15, 20) for b in "xyz"]


def test_ranges():
    log = varied("a", {"from": "1 mm", "to": "100 mm", "scale": "log", "steps": 3})
    assert log.levels() == ("1.0 mm", "10.0 mm", "100.0 mm")
    whole = varied("a", {"from": 3, "to": 5, "whole": True})
    found = [whole.at(u) for u in np.linspace(0, 1, 3000)]
    assert np.bincount(found) == pytest.approx([0, 0, 0, 1000, 1000, 1000], abs=10)
    assert [Choice(("x", "y")).at(u) for u in (0.0, 0.499, 0.5, 0.999)] == [*"xxyy"]


@pytest.mark.parametrize(
    "said, message",
    [
        ([], "vary.a"),
        ({"from": 1}, ("vary.a.to", "nothing")),
        ({"from": "1 cm", "to": "2 mm"}, ("vary", "1 cm to 2 mm")),
        ({"from": 0, "to": 1, "scale": "log"}, ("vary: from", 0.0)),
        ({"from": 0, "to": 1, "scale": "cubic"}, ("vary.a.scale", "'cubic'", "'linear'")),
        ({"from": 0, "to": 1.5, "whole": True}, ("vary", "0.0 to 1.5")),
    ],
)
def test_ranges_that_are_none(said, message):
    with refused(SweepError, message):
        varied("a", said)


LEAF = st.none() | st.booleans() | st.integers(-(10**17), 10**17) | st.floats(allow_nan=False)
TEXT = st.text(st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=["C"]))


@given(st.recursive(LEAF | TEXT, lambda s: st.lists(s) | st.dictionaries(TEXT, s), max_leaves=6))
def test_values_survive_being_overrides(value):
    """Every float in every bit: 1e-05 stays a number, 'yes' a text."""
    assert parse_yaml(yaml_text(value), "value", SweepError).value == value


def test_names_depend_on_values_alone():
    values = {"a": 1.5, "b": "x"}
    one = sample_of(values, 0, 0, ())
    assert one.id == sample_of({"b": "x", "a": 1.5}, 99, 5, ()).id
    assert one.id != sample_of({**values, "a": np.nextafter(1.5, 2)}, 0, 0, ()).id
    assert one.seed == sample_of(values, 7, 0, ()).seed != sample_of(values, 7, 1, ()).seed


def test_own_seeds_enter_the_scene(sweep_file):
    path = sweep_file("seeds: [cloth.sheet.seed]\nset: {cloth.sheet.pattern: random}\n")
    samples = plan_of(read_sweep(path))
    assert all(s.values["cloth.sheet.seed"] == s.seed for s in samples)
    assert len({s.seed for s in samples}) == 4


def test_csv(sweep_file, tmp_path):
    table = "cloth.fabric,cloth.sheet.width\nsilk,30 cm\ncotton,\n"
    (tmp_path / "values.csv").write_text(table)
    samples = plan_of(read_sweep(sweep_file("design: csv\nfile: values.csv\n", vary="")))
    assert [dict(s.values) for s in samples] == [
        {"cloth.fabric": "silk", "cloth.sheet.width": "30 cm"},
        {"cloth.fabric": "cotton"},
    ]
    (tmp_path / "values.csv").write_text("cloth.fabric,step\nsilk\n")
    with refused(SweepError, "csv", got="1 cells", expected="2", where="values.csv:2"):
        plan_of(read_sweep(sweep_file("design: csv\nfile: values.csv\n", vary="")))


def test_function(sweep_file, tmp_path, monkeypatch):
    said = "design: function\nfunction: mine.py:rows\nsamples: 3\nseed: 4\n"
    code = "def one(rng):\n    return {'gravity.1': -rng.random()}\n"
    code += "def rows(rng, n):\n    for _ in range(n):\n        yield one(rng)\n"
    (tmp_path / "mine.py").write_text(code)
    samples = plan_of(read_sweep(sweep_file(said, vary="")))
    wanted = -np.random.default_rng(4).random(3)
    assert [s.values["gravity.1"] for s in samples] == wanted.tolist()
    (tmp_path / "mine.py").write_text("def rows(rng, n):\n    return [1 / 0]\n")
    with refused(SweepError, "function mine.py:rows", got="ZeroDivisionError", where="mine.py:2"):
        plan_of(read_sweep(sweep_file(said, vary="")))
    code = "def rows(rng, n):\n    while True:\n        yield {'step': 0.01}\n"
    (tmp_path / "mine.py").write_text(code)
    monkeypatch.setattr(
        "weft.plugins.lab.sweep.design.MOST_SAMPLES", 1000
    )  # a million takes ten seconds
    with refused(SweepError, "samples", expected="1,000"):
        plan_of(read_sweep(sweep_file(said, vary="")))


def test_a_billion_samples_are_refused_at_once(sweep_file):
    """By counting, not by making them."""
    steps = "{from: 0.1, to: 1.0, steps: 1000}"
    vary = f"cloth.sheet.width: {steps}\n  cloth.sheet.height: {steps}\n  gravity.1: {steps}"
    with refused(
        SweepError, "samples", got="1,000,000,000", expected="1,000,000", hint="`design: sobol`"
    ):
        read_sweep(sweep_file(vary=vary))
    with refused(SweepError, "samples", got="1,000,001", expected="1,000,000"):
        read_sweep(sweep_file(f"design: sobol\nsamples: {MOST_SAMPLES + 1}\n"))


def test_equal_samples_run_once(sweep_file):
    with pytest.warns(UserWarning, match="1 samples have the values of another"):
        samples = plan_of(read_sweep(sweep_file(vary="step: [0.01, 0.02, 0.01]")))
    assert [s.values["step"] for s in samples] == [0.01, 0.02]


@pytest.mark.parametrize(
    "text, message",
    [
        ("desing: grid\n", ("field desing", "'design'")),
        ("samples: 3\n", ("samples", "design grid")),
        ("design: random\n", ("samples", "nothing")),
        ("design: csv\n", ("file", "nothing", "design csv")),
        ("time_limit: 3 kg\n", "time_limit"),
        ("keep: {statik: 1}\n", ("field keep.statik", "'static'")),
    ],
)
def test_sweep_files_that_are_none(sweep_file, text, message):
    with refused(SweepError, message) as error:
        read_sweep(sweep_file(text))
    assert "\n" not in str(error.value)


def test_a_scene_that_is_not_there(sweep_file, tmp_path):
    path = sweep_file()
    (tmp_path / "scene.yaml").unlink()
    with refused(SweepError, "scene", got="'scene.yaml'", where="sweep.yaml:1"):
        read_sweep(path)
