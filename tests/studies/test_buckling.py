"""Studies of immediate buckling, small: what they must find on any size."""

import numpy as np
import pytest

from studies import (
    buckling,
    buckling_anisotropy,
    buckling_bias,
    buckling_compression,
    buckling_mesh,
)


def quiet(_):
    pass


def rows(study):
    return [dict(zip(study.table.columns, row)) for row in study.table.rows]


def test_elastica():
    """Its load at small shortening is 1 + s/2; tables have 1.18 at 0.3."""
    assert buckling_compression.elastica(1e-4) == pytest.approx(1 + 0.5e-4, abs=1e-7)
    assert buckling_compression.elastica(0.3) == pytest.approx(1.18, abs=0.01)


def test_compression():
    study = buckling_compression.study(quiet, shortenings=(0.01, 0.1, 0.3), size=0.015)
    found = {(r["model, mesh"], r["shortening over length"]): r for r in rows(study)}
    hinges, soft, stiff = (
        f"{name}, regular, k = {k} N/m"
        for name, k in (
            ("Baraff-Witkin", 1000),
            ("immediate buckling", 1000),
            ("immediate buckling", 10000),
        )
    )
    for s in (0.01, 0.1, 0.3):
        r = found[hinges, s]
        assert r["over Euler's load"] == pytest.approx(1.2 * r["elastica"], rel=0.1)
    # Pairs hardly resist the first curvatures, the less the softer the cloth is.
    assert found[soft, 0.01]["over Euler's load"] < found[stiff, 0.01]["over Euler's load"]
    assert found[soft, 0.01]["over Euler's load"] < 0.4
    assert found[stiff, 0.3]["over Euler's load"] > 0.6
    flat = "force of a flat strip at 1e-3 [N/m]"
    assert found[hinges, 0.1][flat] == pytest.approx(1.0, rel=0.02)
    assert found[soft, 0.1][flat] < 0.5


def test_folds():
    x = np.linspace(0, 1, 500)
    assert buckling.folds(np.sin(6 * np.pi * x), 0.5) == 6
    assert buckling.folds(np.sin(6 * np.pi * x) + 0.01 * np.sin(300 * x), 0.5) == 6
    assert buckling.folds(x, 0.5) == 0


def test_mesh_study_runs_small():
    study = buckling_mesh.study(quiet, size=0.12, seconds=0.3)
    assert len(study.table.rows) == 12 and len(study.findings) == 2
    assert all(np.isfinite(r["bending [J]"]) for r in rows(study))


def test_bias():
    study = buckling_bias.study(quiet, size=0.03, seconds=0.5)
    force = {(r["model"], round(r["shear"], 3)): r["force per width [N/m]"] for r in rows(study)}
    last = max(s for _, s in force)
    assert force["StVK", last] > 2 * force["Baraff-Witkin", last]
    assert force["immediate buckling", last] == pytest.approx(force["Baraff-Witkin", last], rel=0.4)


def test_anisotropy():
    study = buckling_anisotropy.study(quiet, size=0.1, seconds=1.0)
    assert len(study.table.rows) == 5 and len(study.findings) == 4
