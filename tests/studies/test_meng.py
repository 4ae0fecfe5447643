"""The studies of splines, small: what each is to show."""

import pytest

from studies import (
    meng_drape,
    meng_hanging,
    meng_shear,
    spline_convergence,
    spline_wrinkles,
)
from studies.meng import fabric
from tests.studies.builders import column, quiet

pytestmark = pytest.mark.campaign


def test_material_is_the_papers_in_our_convention():
    """mu_st = E/(2(1+nu)) per volume without 1/2: twice that times the thickness per area."""
    f = fabric()
    assert f.stretch_warp == pytest.approx(2 * 5e5 / (2 * 1.243) * 5.18e-3)
    assert f.bending_warp == pytest.approx(10 * 5.18e-3**3 / (12 * (1 - 0.243**2)))
    assert f.density == pytest.approx(472.6 * 5.18e-3)
    assert f.shear == pytest.approx(0.005 * f.stretch_warp)


@pytest.mark.parametrize("module", [meng_hanging, meng_drape, meng_shear])
def test_the_papers_tests(module, tmp_path):
    study = module.study(quiet, [(14, 20), (18, 26)], 0.06)
    assert len(study.table.rows) == 4 and len(study.pictures) == 2
    differs = column(study, "silhouette differs [%]")
    assert differs["spline 18"] == 0.0 and differs["triangles 26"] < 25
    assert all(v > 0 for v in column(study, "elastic [J]").values())
    assert all(p.exists() for p in study.write(tmp_path))


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
