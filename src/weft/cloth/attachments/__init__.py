"""What attaches cloth: to bodies, to itself, to ropes, springs and rails; and grippers."""

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
from weft.cloth.attachments.keyframed import retied

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
    "retied",
]
