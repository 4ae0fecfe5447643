"""Sources of bodies in scene files: a shape, a mesh file, or a robot arm.

Sources are registered by the name of their field (``weft.extensions``, kind ``bodies``).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.bodies.body import Body

STAYS = "a shape is fixed; it moves along bodies.path, or deforms as a mesh with frames"
LINKS_STAY = "links are fixed; `joints` have keyframes"


@dataclass(frozen=True)
class BodySource:
    """A field of ``bodies`` that says what a body is.

    Args:
        block: of its fields, usually of ``shape_block``, or a dataclass of settings; ``str``: a
            file.
        meaning: of the field, for ``weft explain``.
        constant: why it has no keyframes.
        links: (path, block, name) -> bodies: reads the links of an arm from a file; None: the
            source is one body.
    """

    block: type
    meaning: str
    constant: str = STAYS
    links: Callable[[Path, Any, str], Sequence[Body]] | None = None
