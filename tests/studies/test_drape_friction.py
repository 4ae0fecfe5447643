"""Drapes with and without friction: what the study tables."""

import pytest

from studies import drape_friction
from studies.study import Several


@pytest.mark.slow
def test_friction_holds_broadcloth_up(monkeypatch):
    """On a coarse mesh, as on a fine one."""
    monkeypatch.setattr(drape_friction, "FABRICS", ("broadcloth",))
    monkeypatch.setattr(drape_friction, "SLIPS", (None, 15.0))
    found = drape_friction.study(lambda _: None, seeds=1, size=12e-3)
    none, rubs = (row[2] for row in found.table.rows)
    assert isinstance(none, Several) and rubs.mean > none.mean + 8
    assert set(found.pictures) == {"broadcloth-elastic", "broadcloth-friction"}
    assert "measured 82.9 %" in found.findings[0]
