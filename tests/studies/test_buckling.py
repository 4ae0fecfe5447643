"""Studies of immediate buckling, small: what they must find on any size."""

import pytest

from studies import (
    buckling_bias,
    buckling_compression,
)
from tests.studies.builders import quiet, rows

pytestmark = pytest.mark.campaign


def test_elastica():
    """Its load at small shortening is 1 + s/2; tables have 1.18 at 0.3."""
    assert buckling_compression.elastica(1e-4) == pytest.approx(1 + 0.5e-4, abs=1e-7)
    assert buckling_compression.elastica(0.3) == pytest.approx(1.18, abs=0.01)


def test_compression():
    study = buckling_compression.study(quiet, shortenings=(0.01, 0.1, 0.3), size=0.015)
    found = {(r["model, mesh"], r["shortening over length"]): r for r in rows(study)}
    hinges = "Baraff-Witkin, regular, k = 1000 N/m"
    soft, stiff = (f"immediate buckling, regular, k = {k} N/m" for k in (1000, 10000))
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


def test_bias():
    study = buckling_bias.study(quiet, size=0.03, seconds=0.5)
    force = {(r["model"], round(r["shear"], 3)): r["force per width [N/m]"] for r in rows(study)}
    last = max(s for _, s in force)
    assert force["StVK", last] > 2 * force["Baraff-Witkin", last]
    assert force["immediate buckling", last] == pytest.approx(force["Baraff-Witkin", last], rel=0.4)
