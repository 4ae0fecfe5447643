"""Attachments of cloth: springs to bodies, to cloth itself, to ropes and rails; and grippers.

Read ``attachment`` first: the base class of all kinds. A kind is one file: ``to_body``,
``to_cloth``, ``ropes`` (ropes and springs), ``slide`` (rings on a rail), ``goal`` (a guide). It
builds its energies at a ``site``, which has the other ends of its springs; ``build`` joins those of
a scene (``attached`` holds the result). ``check_start`` rejects attachments that overstretch cloth
at the start, ``drawing`` returns ropes and springs for pictures, ``gripper`` is a scripted gripper.
"""

from typing import TypeAlias

from weft.cloth.attachments.attached import Attached
from weft.cloth.attachments.attachment import Attachment
from weft.cloth.attachments.build import attached
from weft.cloth.attachments.check_start import check_stretch
from weft.cloth.attachments.goal import Goal
from weft.cloth.attachments.ropes import Rope, Spring
from weft.cloth.attachments.slide import Slide
from weft.cloth.attachments.to_body import AttachToBody
from weft.cloth.attachments.to_cloth import AttachCloth

# Kinds by name, for messages; others are subclasses of ``Attachment`` too.
AnyAttachment: TypeAlias = AttachToBody | AttachCloth | Rope | Spring | Slide | Goal | Attachment

__all__ = [
    "AnyAttachment",
    "AttachCloth",
    "AttachToBody",
    "Attached",
    "Attachment",
    "Goal",
    "Rope",
    "Slide",
    "Spring",
    "attached",
    "check_stretch",
]
