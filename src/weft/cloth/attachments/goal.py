"""Goals of a scene: cloth that is drawn to a guide, a mesh that moves."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from weft.base.arrays import Floats, Ints, Positions, VertexSelection
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.bodies.body import Body
from weft.bodies.joints.anchors import BodyAnchor, FixedAnchor
from weft.bodies.motion.pins import Path
from weft.cloth.attachments.attached import Attached
from weft.cloth.attachments.attachment import CHOSEN, UNCHECKED, Attachment, Weight
from weft.cloth.attachments.site import Site
from weft.discretization.mesh import have_same_sides
from weft.energies.energy import Energy
from weft.energies.springs.goals import Goals
from weft.energies.springs.point_springs import MovedPlaces
from weft.energies.springs.release import NEVER


@dataclass(frozen=True, eq=False)
class GuideAnchor:
    """Places (m,3) [m] on a guide: at vertices with these ids, or as ``beside`` has them."""

    guide: Body
    ids: Ints
    beside: BodyAnchor | None = None
    follows_bodies = False

    @property
    def start(self) -> Positions:
        """Places at t = 0, (m,3) [m]."""
        return self.at(np.zeros((0, 3)), 0.0)

    def at(self, bodies: Positions, t: float) -> Positions:
        """Return the places (m,3) [m] at time t [s]; bodies of the scene do not matter."""
        x = self.guide.at(t)
        return x[self.ids] if self.beside is None else self.beside.at(x, t)

    def pull_back(self, bodies: Positions, t: float, by: Floats, to: Floats) -> None:
        """Add nothing: the places do not depend on bodies of the scene."""


@checked(SceneError, "goal", named=True, unchecked=UNCHECKED)
@documented
@dataclass(frozen=True, eq=False)
class Goal(Attachment):
    """Points of the cloth that are drawn to a guide, each with a weight.

    The guide is a ``Body`` of the same topology, whose vertices the cloth follows one by one; or,
    with ``nearest``, any mesh: each point then keeps its position relative to the nearest face at
    the start. ``body`` is the name of a body of the scene, in place of a guide. Without both,
    points are drawn to where they start, as by soft pins, and the places move along ``path``.
    ``weight`` is one number, or one for each of ``vertices``.

    Raises:
        SceneError: a guide and a body, or weights that are negative or of another number.
    """

    kind = "goal"

    vertices: VertexSelection
    _: KW_ONLY
    guide: Body | None = None
    body: str | None = None
    stiffness_per_area: float = setting(
        REQUIRED,
        "force per distance and area of cloth for weight 1; 0: free",
        "N/m^3",
        least=0,
        keyframes=True,
    )
    damping: float = setting(
        0.0,
        "damping of motion relative to the guide, over the stiffness",
        "s",
        least=0,
        keyframes=True,
    )
    nearest: bool = setting(
        False,
        "true: follow the nearest faces of the guide at the start; false: follow the vertices "
        "with the same numbers",
        constant=CHOSEN,
    )
    path: Path | None = None
    weight: Weight | None = None
    name: str = ""
    stiffness, release = None, NEVER  # keyframes of the stiffness end a goal

    def __post_init__(self) -> None:
        super().__post_init__()
        name = self.name or self.kind
        ends = {"a guide": self.guide, "a body": self.body, "a path": self.path}
        given = [end for end, value in ends.items() if value is not None]
        if len(given) > 1:
            expected = "a guide, the name of a body, or a path"
            raise SceneError(f"{name}.guide", got=" and ".join(given), expected=expected)

    def build(self, site: Site) -> Attached:
        """Build the goals of all points whose weight is not zero."""
        weight = self.weights(len(self.vertices))
        ids, area = self.vertices[weight > 0], site.cloth.mesh.vertex_area
        if len(ids) == 0:
            return Attached()
        numbers = self.stiffness_per_area, weight[weight > 0] * area[ids]
        places = self._places(site, ids)
        return Attached((Goals(*site.single(ids), *numbers, places, self.damping, site.name),))

    def _places(self, site: Site, ids: Ints) -> MovedPlaces:
        """Return the places of vertices on the guide."""
        cloth, guide = site.cloth, self.guide
        x = cloth.vertices[ids]
        if guide is None and self.body is None:
            return FixedAnchor(x, self.path)
        rigid = guide.rigid if guide is not None else site.rigid(self.body or "")
        if rigid is not None:
            expected = "a mesh that is not a rigid body"
            raise SceneError(f"{site.name}.guide", got="a rigid body", expected=expected)
        if guide is None:
            return BodyAnchor.of(x, site.bodies, self.body or "", site.name)
        if self.nearest:
            return GuideAnchor(guide, ids, BodyAnchor.of(x, [guide], guide.name, site.name))
        part = next(p for p in cloth.parts if ids[0] in p.vertices)
        first, faces = part.vertices[0], cloth.faces[part.faces]
        alike = len(guide.vertices) == len(part.vertices) and np.isin(ids, part.vertices).all()
        if alike and have_same_sides(faces - first, guide.faces):
            return GuideAnchor(guide, ids - first)
        raise SceneError(
            f"{site.name}.guide: {guide.name}",
            got=f"{len(guide.vertices)} vertices and {len(guide.faces)} triangles",
            expected=f"the edges of {part.name}: {len(part.vertices)} vertices and {len(faces)} "
            "triangles",
            where=cloth.mesh.source,
            hint="write `nearest: true` for a guide with another mesh",
        )

    def updated(self, energies: Sequence[Energy]) -> Sequence[Energy]:
        """Return the energies that a goal of the same points built, with its numbers."""
        return [
            replace(e, stiffness=self.stiffness_per_area, damping=self.damping)
            for e in energies
            if isinstance(e, Goals)
        ]
