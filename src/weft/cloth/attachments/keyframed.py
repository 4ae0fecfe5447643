"""Attachments with keyframed numbers: their energies with the numbers of another time.

The attached points and places, and the exceptions for contact, remain those of the start.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.cloth.attachments.attachment import AttachCloth, Attachment, Rope, Slide, Spring
from weft.cloth.attachments.build import ONSET_LEAST, ONSET_PART, called
from weft.energies.base import Energy
from weft.energies.springs.point_springs import PointSprings
from weft.energies.springs.ring_spacing import RingSpacing


def update_attachments(
    tied: Mapping[int, Energy], attachments: Sequence[Attachment]
) -> dict[int, Energy]:
    """Return the energies of attachments with the numbers of ``attachments`` at some time.

    Args:
        tied: energies of the start, by their index in the model.
        attachments: the attachments at some time.
    """
    named = {called(a, k): a for k, a in enumerate(attachments)}
    made: dict[int, Energy] = {}
    rings: dict[str, PointSprings] = {}
    for number, energy in tied.items():
        if isinstance(energy, PointSprings):
            rings[energy.name] = _ties(energy, named[energy.name])
            made[number] = rings[energy.name]
        elif isinstance(energy, RingSpacing):
            own, slide = rings[energy.rings.name], named[energy.rings.name]
            assert isinstance(slide, Slide)
            stiff = np.asarray(own.stiffness)[energy.pairs].min(axis=1)
            made[number] = dataclasses.replace(
                energy, rings=own, apart=slide.spacing, stiffness=stiff
            )
    return made


def _ties(ties: PointSprings, a: Attachment) -> PointSprings:
    """Return the springs with the numbers of an attachment."""
    new: dict[str, Any] = {}
    if a.stiffness is not None:
        new["stiffness"] = np.full(len(ties), float(a.stiffness))
    if isinstance(a, AttachCloth | Rope | Spring) and a.length is not None:
        new["length"] = np.full(len(ties), float(a.length))
    if a.release.force is not None:
        new["release"] = a.release
    if isinstance(a, AttachCloth) and a.length is not None:
        new["onset"] = np.maximum(ONSET_PART * new["length"], ONSET_LEAST)
        new["pulls"] = a.length > 0 or a.closing > 0
    if isinstance(a, Rope):
        new["onset"] = a.onset * new.get("length", ties.length)
    if isinstance(a, Spring):
        new["damping"] = a.damping
    if isinstance(a, Slide):
        new.update(length=np.full(len(ties), a.radius), friction=a.friction)
    return dataclasses.replace(ties, **new)
