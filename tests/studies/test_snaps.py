"""Derivatives beside a contact that begins and a snap: the study, on few samples."""

import numpy as np
import pytest

from studies import snaps


def test_a_snap_is_a_jump_that_no_derivative_knows(monkeypatch):
    monkeypatch.setattr(snaps, "LOADS", (2.0, 20.0))
    found = snaps.arch(7)
    jump = int(np.argmax(np.abs(np.diff(found.loss))))
    steepest = np.abs(found.slope).max()
    assert abs(found.quotient[jump]) > 5 * steepest
    assert found.loss[jump] > 0.01 and found.loss[jump + 1] < -0.01
    away = np.delete(found.quotient, jump)
    mean = np.delete((found.slope[1:] + found.slope[:-1]) / 2, jump)
    np.testing.assert_allclose(mean, away, atol=0.5 * steepest)
    assert (found.slope[: jump + 1] < 0).all() and found.slope[jump + 1 :].min() > 0


@pytest.mark.slow
def test_derivatives_follow_a_contact_that_begins():
    """Zero where nothing touches, then the local slope; the study says so."""
    found = snaps.landing(5)
    assert (found.slope[:2] == 0).all() and (found.slope[3:] > 0).all()
    assert found.loss[0] == found.loss[1] < found.loss[3] < found.loss[4]
    text = snaps.findings(found, found)
    assert "exactly zero" in text[0] and len(text) == 4
