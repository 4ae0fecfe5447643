"""Attachments of cloth: springs to bodies, to cloth itself, to ropes and rails; and grippers.

Read ``attachment`` first: the settings as a scene lists them. ``build`` converts them into energies
(``attached`` holds the result), with the other ends from ``anchors``; ``keyframed`` updates their
numbers in time. ``check_start`` rejects attachments that overstretch cloth at the start,
``drawing`` returns ropes and springs for pictures, ``gripper`` is a scripted gripper.
"""

from weft.cloth.attachments.attached import Attached
from weft.cloth.attachments.attachment import (
    AttachCloth,
    Attachment,
    AttachToBody,
    Rope,
    Slide,
    Spring,
)
from weft.cloth.attachments.build import attached
from weft.cloth.attachments.check_start import check_stretch
from weft.cloth.attachments.keyframed import update_attachments

__all__ = [
    "AttachCloth",
    "AttachToBody",
    "Attached",
    "Attachment",
    "Rope",
    "Slide",
    "Spring",
    "attached",
    "check_stretch",
    "update_attachments",
]
