"""Sources of cloth in scene files: a sheet, a mesh file, a sewing pattern, ...

Sources are registered by the name of their field (``weft.extensions``, kind ``cloth sources``).
"""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.base.arrays import Floats
from weft.cloth.cloth import Cloth
from weft.cloth.create import join
from weft.cloth.regions import ContactThickness
from weft.contact.settings import SelfContact
from weft.energies.energy import Energy
from weft.fabric.fabric import Fabric

STAYS = "the mesh is fixed; the simulation moves only its points"


@dataclass(frozen=True)
class SceneParts:
    """Parts of a scene that its cloths decide.

    Args:
        energies: such as those of sewing.
        contact: settings; None: none.
        gravity_from: [s] two times between which gravity grows, or (n,2) of every vertex.
    """

    energies: Sequence[Energy] = ()
    contact: SelfContact | None = None
    gravity_from: tuple[float, float] | Floats = (0.0, 0.0)


@dataclass(frozen=True, eq=False)
class JoinedCloths:
    """The cloths of a scene as one cloth; sources with ``join`` have a class of their own."""

    cloth: Cloth

    @staticmethod
    def of(
        named: Sequence[tuple[str, Any, ContactThickness]], fabrics: Sequence[Fabric | None] = ()
    ) -> "JoinedCloths":
        """Join cloths.

        Args:
            named: name, cloth, and thickness [m] kept in contact (None: the scene's).
            fabrics: that blocks give to what is no cloth yet; None: none.
        """
        names, cloths, thickness = zip(*named)
        seen = {n: look for n, c in zip(names, cloths) for look in c.appearances.values()}
        cloth = join(list(cloths), list(names), list(thickness))
        return JoinedCloths(dataclasses.replace(cloth, appearances=seen))

    def parts(self, file: Any) -> SceneParts:
        """Return the parts of a scene that these cloths decide.

        Args:
            file: the contents of the scene file (``SceneFile``).
        """
        return SceneParts(contact=file.contact)


@dataclass(frozen=True)
class ClothSource:
    """A field of ``cloth`` that says what a cloth is made from.

    Args:
        block: of its fields: a ``Block``, or a dataclass of settings.
        meaning: of the field, for ``weft explain``.
        groups: names of its groups of vertices, which pins and attachments can select.
        constant: why it has no keyframes.
        build: (builder, cloth block, fabric) -> cloth, or what ``join`` takes; the fabric is None
            where the block names none. None: one of weft's own sources.
        check: (cloth block) raises a ValueError for fields that do not go with the source.
        sizes: (cloth block, folder, fabric) -> sizes (k,2) [m] of its pieces, and their fabrics by
            name, for ``size: auto``.
        join: joins all cloths of the scene, as ``JoinedCloths.of``; None: as that does.
    """

    block: type
    meaning: str
    groups: str = "no groups"
    constant: str = STAYS
    build: Callable[[Any, Any, Fabric | None], Any] | None = None
    check: Callable[[Any], None] | None = None
    sizes: Callable[[Any, Path, Any], tuple[Floats, Mapping[str, Fabric]]] | None = None
    join: Callable[..., JoinedCloths] | None = None
