"""A thickness that grows: how much of it a step takes."""

from types import SimpleNamespace

import numpy as np
import pytest

import weft
from weft import kernel
from weft.contact.barrier.schedules import HELD, ThicknessSchedule
from weft.contact.contact import Contact, SelfContact
from weft.contact.detector import ContactDetector

GAP = 2e-3
ROOM = 1e-3  # [m] between two sheets


def grown(asked, room=ROOM):
    """The thickness after one step that asks for ``asked`` [m], from 0, between two sheets."""
    sheets = [weft.sheet(4, 4, 0.1, 0.1).moved((0.0, h, 0.0)) for h in (0.0, room)]
    mesh = weft.joined(sheets).mesh
    kept = np.zeros(1), 5e-3
    contact = Contact.of(mesh, np.ones(mesh.n_vertices), SelfContact(GAP), kept=kept)
    schedule = ThicknessSchedule(contact)
    schedule.asked = np.array([asked])
    search = ContactDetector(contact.mesh, contact.stiffness, GAP)
    schedule.grow(search, kernel.points(mesh.vertices), SimpleNamespace(kept={}, t=0.0))
    return float(schedule.now[0])


@pytest.mark.parametrize("part", [0.3, 0.5, 0.7, 0.999, 1.0, 1.5, 4.0])
def test_half_of_the_room_is_left(part):
    """Also if there is just room for the whole increase: the barrier is infinite without room."""
    assert grown(part * ROOM) == pytest.approx(min(part, 0.5) * ROOM, rel=1e-9)


def test_what_is_held_together_is_an_error_if_there_is_no_room_for_the_increase():
    room = 0.5 * HELD * GAP
    assert grown(0.8 * room, room) == pytest.approx(0.5 * room, rel=1e-6)
    with pytest.raises(weft.errors.SimulationError, match="something holds them"):
        grown(2 * room, room)
