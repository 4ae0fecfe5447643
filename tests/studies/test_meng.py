"""The studies of splines, small: what each is to show."""

import numpy as np
import pytest

from studies import (
    locking,
    meng_drape,
    meng_hanging,
    meng_quadrature,
    meng_shear,
    meng_skirt,
    spline_convergence,
    spline_wrinkles,
)
from studies.meng import SplineGrid, fabric, scene


def quiet(_):
    pass


def column(study, name):
    i = list(study.table.columns).index(name)
    return {row[0]: row[i] for row in study.table.rows}


def test_material_is_the_papers_in_our_convention():
    """mu_st = E/(2(1+nu)) per volume without 1/2: twice that times the thickness per area."""
    f = fabric()
    assert f.stretch_warp == pytest.approx(2 * 5e5 / (2 * 1.243) * 5.18e-3)
    assert f.bending_warp == pytest.approx(10 * 5.18e-3**3 / (12 * (1 - 0.243**2)))
    assert f.density == pytest.approx(472.6 * 5.18e-3)
    assert f.shear == pytest.approx(0.005 * f.stretch_warp)


def test_all_grids_start_alike():
    """The same ripple, the same mass, the same pins."""
    for test in ("hanging", "drape", "shear"):
        a, b = (scene(test, SplineGrid(kind, n)) for kind, n in (("spline", 20), ("triangles", 30)))
        assert a.cloth.mass.sum() == pytest.approx(b.cloth.mass.sum())
        assert len(a.pins) == len(b.pins)
        ends = [np.ptp(s.cloth.vertices, axis=0) for s in (a, b)]
        np.testing.assert_allclose(*ends, atol=3e-4)


@pytest.mark.parametrize("module", [meng_hanging, meng_drape, meng_shear])
def test_the_papers_tests(module, tmp_path):
    study = module.study(quiet, [(14, 20), (18, 26)], 0.06)
    assert len(study.table.rows) == 4 and len(study.pictures) == 2
    differs = column(study, "silhouette differs [%]")
    assert differs["spline 18"] == 0.0 and differs["triangles 26"] < 25
    assert all(v > 0 for v in column(study, "elastic [J]").values())
    assert all(p.exists() for p in study.write(tmp_path))


@pytest.mark.slow
def test_quadrature_keeps_only_rigid_motions_and_gets_cheaper():
    study = meng_quadrature.study(quiet, 14, 8)
    rows = {(r[0], r[1]): r for r in study.table.rows}
    assert all(r[4] == 3 for k, r in rows.items() if k[1] != "1x1")
    assert rows["greville", "1x1"][4] > 3
    assert abs(rows["greville", "full"][6]) < 1e-3
    assert abs(rows["greville", "reduced"][6]) < abs(rows["greville", "alternating"][6])
    assert rows["greville", "reduced"][2] < 0.5 * rows["greville", "full"][2]


def test_splines_converge_faster():
    study = spline_convergence.study(quiet, (10, 20, 40))
    error = {(r[0], r[1]): r[2] for r in study.table.rows}
    for kind in ("spline, reduced", "spline, full"):
        assert error[kind, 40] < 0.2 * error[kind, 20] < 0.2 * error[kind, 10]
        assert error[kind, 40] < 0.1 * error["triangles", 40]
    # Mean curvature alone lets a narrow strip bend across, for nothing.
    assert error["spline, reduced, mean curvature", 40] > 0.1


def test_wrinkles_have_the_predicted_length():
    study = spline_wrinkles.study(quiet, [("triangles", 49), ("spline", 33)])
    for off in column(study, "off [%]").values():
        assert abs(off) < 30
    assert all(v > 1 for v in column(study, "depth [mm]").values())


def test_strips_of_splines_are_soft_until_very_stiff():
    study = locking.study(quiet, [1e4, 1e5], segments=40)
    for name in ("spline, reduced", "spline, full"):
        drops = column(study, f"drop/L, {name}")
        assert drops[1e5] == pytest.approx(0.90792, rel=0.015)


def test_skirt_is_sewn_and_worn(monkeypatch):
    monkeypatch.setattr(meng_skirt, "COLUMNS", 13)
    monkeypatch.setattr(meng_skirt, "ROWS", 13)
    flat = meng_skirt.skirt(13, 13)
    assert flat.mesh.boundary.size == 48
    monkeypatch.setattr(meng_skirt, "skirt", lambda: flat)
    study = meng_skirt.study(quiet, 0.06, 0.12)
    assert all(v == 0 for v in column(study, "pairs of faces that intersect").values())
    assert "2 seams closed exactly" in study.findings[0]
