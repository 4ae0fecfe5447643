"""The studies, smaller than they are published, against what they conclude."""

import sys

import numpy as np
import pytest

from studies import damping, macri, rest_stretch, runner, scale, unit_magnitude
from tests.refusals import refused
from weft.base.errors import WeftError


def quiet(_):
    pass


def rows(study):
    return [dict(zip(study.table.columns, row)) for row in study.table.rows]


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


def test_unit_magnitude():
    """Only shear matters: exact bend moves the sheet far less than exact shear does."""
    study = unit_magnitude.study(quiet, side=10, seconds=0.6)
    moved = {
        (r["k_bend [J]"], r["shear"], r["bend"]): r["largest distance to body, body [m]"]
        for r in rows(study)
    }
    assert moved[1e-5, "body", "exact"] < 0.05 * moved[1e-5, "exact", "body"]
    assert len(study.findings) == 6


def test_macri():
    study = macri.study(quiet)
    for row in rows(study):
        assert row["eq. 54 (frozen)"] < 1e-8
        assert row["switched (frozen)"] > 0.05
    # With exact derivatives, where no length is frozen, all three formulas agree.
    x = macri.hinge(0.9)
    true = macri.differences(x, None)
    h = 1e-6

    def slope(f):
        out = np.zeros((4, 3))
        for a in range(4):
            for i in range(3):
                d = np.zeros((4, 3))
                d[a, i] = h
                out[a, i] = (f(macri.signed(x + d)) - f(macri.signed(x - d))) / (2 * h)
        return out

    theta = macri.signed(x)
    np.testing.assert_allclose(-slope(np.cos) / np.sin(theta), true, atol=1e-8)
    np.testing.assert_allclose(slope(np.sin) / np.cos(theta), true, atol=1e-8)


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


def test_the_study_takes_the_integrator_s_steps():
    """Its own step with eq. 58 and without damping is that of the 1998 integrator."""
    from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998, Settings1998
    from weft.laws import Psd

    model, state = damping.setting("swing", 6)
    settings = Settings1998(psd=Psd.PROJECTED, linear="splu")
    after, _, _ = BaraffWitkin1998(settings).step(model, state, {}, damping.STEP)
    ours = damping.step(model, state, "no damping")
    np.testing.assert_allclose(ours.x, after.x, atol=1e-10)


def test_rest_stretch():
    study = rest_stretch.study(quiet, side=8)
    for row in rows(study):
        assert row["width [m]"] == pytest.approx(row["b_u"], abs=1e-9)
        assert row["height [m]"] == pytest.approx(row["b_v"], abs=1e-9)
        assert row["shear stiffness over k_s"] == pytest.approx(row["closed form"], rel=1e-5)
    x, mesh = rest_stretch.clamp(1.05, 8)
    assert np.ptp(x[:, 1]) > 0.03
    taut, mesh = rest_stretch.clamp(0.95, 8)
    assert rest_stretch.pull(0.95, mesh, taut) == pytest.approx(250, rel=1e-6)


def test_written_files(tmp_path):
    study = macri.study(quiet, np.radians([-50.0, 2.5, 100.0]))
    table, plot = study.write(tmp_path / "deep" / "folder")
    assert table.read_text().startswith("angle [degrees],eq. 54 (frozen)")
    assert plot.read_bytes()[:4] == b"\x89PNG"


def test_without_matplotlib_the_table_is_written_and_a_line_says_what_to_install(
    tmp_path, monkeypatch
):
    study = macri.study(quiet, np.radians([2.5]))
    assert study.missing() == ""
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    assert study.write(tmp_path) == [tmp_path / "pritchard-macri.csv"]
    assert "weft[plots]" in study.missing()


def test_names():
    with refused(WeftError, "study", got="'pritchard-macry'", hint="'pritchard-macri'"):
        runner.run("pritchard-macry")
    for name in runner.names():
        assert runner.question(name).endswith("?")
