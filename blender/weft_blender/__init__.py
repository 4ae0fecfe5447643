# SPDX-License-Identifier: GPL-3.0-or-later
"""Weft Cloth for Blender: a mesh, its pins and bodies go to weft as files, and come back as a mesh
cache. weft is a process of its own: nothing of it is imported here.
"""

from . import operators, panel, settings

PARTS = (settings, operators, panel)


def register():
    """All of the add-on."""
    for part in PARTS:
        part.register()


def unregister():
    """The other way round."""
    for part in reversed(PARTS):
        part.unregister()
