"""The studies, smaller than they are published, against what they conclude."""

import sys

import numpy as np
import pytest

from studies import damping, macri, rest_stretch, runner, scale
from tests.refusals import refused
from tests.studies.builders import quiet, rows
from weft.base.errors import WeftError

pytestmark = pytest.mark.campaign


def test_scale():
    """p = 1/2 alone is mesh independent; all follow the closed form."""
    study = scale.study(quiet, sides=(5, 9), seconds=0.1)
    for row in rows(study):
        assert row["elongation [m]"] == pytest.approx(row["closed form [m]"], rel=1e-4)
    sag = {(r["p"], r["vertices a side"]): r["elongation [m]"] for r in rows(study)}
    for p, growth in ((1, 4), (0.75, 2), (0.5, 1)):
        assert sag[p, 9] / sag[p, 5] == pytest.approx(growth, rel=2e-4)
    irregular = [r["elongation, irregular mesh [m]"] for r in rows(study) if r["p"] == 0.5]
    assert irregular == pytest.approx([sag[0.5, 5]] * 2, rel=1e-2)
    assert "multiplies the elongation by 4.000" in study.findings[0]


def test_macri():
    study = macri.study(quiet)
    for row in rows(study):
        assert row["eq. 54 (frozen)"] < 1e-8
        assert row["switched (frozen)"] > 0.05


def test_frozen_slopes_are_the_kernels():
    """The notes' S_s(q) written out in the study, against weft's bend condition."""
    from weft.energies.elastic.bend_condition import FrozenLengthBending

    x = macri.hinge(-2.0)
    sine, cosine = macri.frozen_slopes(x)
    theta = macri.signed(x)
    bend = FrozenLengthBending(np.array([[0, 1, 2, 3]], np.int32), np.ones(1), np.zeros(1), 4)
    expected = theta * (np.cos(theta) * sine - np.sin(theta) * cosine)
    np.testing.assert_allclose(bend.gradient(x)[0], expected, atol=1e-12)


def test_damping():
    study = damping.study(quiet, side=6, seconds=0.3)
    none, notes, particle = rows(study)
    fall = "speed after the fall [m/s]"
    assert notes[fall] == pytest.approx(none[fall], rel=1e-9)
    assert none[fall] == pytest.approx(9.81 * 0.3, rel=1e-9)
    assert particle[fall] < 0.5 * none[fall]
    force = "net force on a translated sheet [N]"
    assert notes[force] < 1e-9 < 1.0 < particle[force]
    spin = "rate after the spin [rad/s]"
    assert particle[spin] < 0.01 < 1.0 < notes[spin]


def test_rest_stretch():
    study = rest_stretch.study(quiet, side=8)
    for row in rows(study):
        assert row["width [m]"] == pytest.approx(row["b_u"], abs=1e-9)
        assert row["height [m]"] == pytest.approx(row["b_v"], abs=1e-9)
        assert row["shear stiffness over k_s"] == pytest.approx(row["closed form"], rel=1e-5)
    taut, mesh = rest_stretch.clamp(0.95, 8)
    assert rest_stretch.pull(0.95, mesh, taut) == pytest.approx(250, rel=1e-6)


def test_written_files(tmp_path, monkeypatch):
    """Without matplotlib the table alone, and a line says what to install."""
    study = macri.study(quiet, np.radians([-50.0, 2.5, 100.0]))
    assert study.missing() == ""
    table, plot = study.write(tmp_path / "deep" / "folder")
    assert table.read_text().startswith("angle [degrees],eq. 54 (frozen)")
    assert plot.read_bytes()[:4] == b"\x89PNG"
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    assert study.write(tmp_path) == [tmp_path / "pritchard-macri.csv"]
    assert "weft[plots]" in study.missing()


def test_names():
    with refused(WeftError, "study", got="'pritchard-macry'", hint="'pritchard-macri'"):
        runner.run("pritchard-macry")
    for name in runner.names():
        assert runner.question(name).endswith("?")
