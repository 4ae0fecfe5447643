"""What attaches cloth: to bodies, to itself, to ropes, springs and rails; and grippers."""

from weft.attachments.attached import Attached
from weft.attachments.attachment import AttachCloth, Attachment, AttachToBody, Rope, Slide, Spring
from weft.attachments.making import attached
from weft.attachments.retied import retied
from weft.attachments.start import check_stretch

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
