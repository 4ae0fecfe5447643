"""Attachments of cloth to bodies: points that follow a face of a body."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from weft.base.arrays import VertexSelection
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.bodies.joints.anchors import BodyAnchor
from weft.cloth.attachments.anchors import RigidEnds
from weft.cloth.attachments.attached import Attached, Link
from weft.cloth.attachments.attachment import CHOSEN, NEAR, STIFF, UNCHECKED, Attachment
from weft.cloth.attachments.site import Site
from weft.energies.springs.release import NEVER, Release


@checked(SceneError, "attach to body", named=True, unchecked=UNCHECKED)
@documented
@dataclass(frozen=True, eq=False)
class AttachToBody(Attachment):
    """Points of the cloth that follow a body: straps, buttons, hems.

    Each point keeps its position relative to the face of the body that is nearest at the start,
    while this face moves, turns and deforms. ``vertices`` are ids, ``body`` is a name, ``release``
    says when the points are released.
    """

    kind = "attach to body"

    vertices: VertexSelection
    body: str
    _: KW_ONLY
    stiffness: float | None = setting(None, STIFF, "N/m", above=0, keyframes=True)
    within: float = setting(
        NEAR, "largest distance from the body at the start", "m", above=0, constant=CHOSEN
    )
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()

    def build(self, site: Site) -> Attached:
        """Build springs that hold points of the cloth beside a body."""
        x = site.cloth.vertices[self.vertices]
        rigid = site.rigid(self.body)
        place = rigid.at(x) if rigid else BodyAnchor.of(x, site.bodies, self.body, site.name)
        far = int(place.distance.argmax())
        if place.distance[far] > self.within:
            raise SceneError(
                f"{site.name}.within",
                got=f"vertex {self.vertices[far]} at {place.distance[far]:.3g} m from {self.body}",
                expected=f"at most {self.within:.3g} m",
                hint=f"move it there, or say `within: {1.01 * place.distance[far]:.3g} m`",
            )
        near = np.flatnonzero(place.distance <= 2 * (site.reach or 0.0))
        near = near if self.release.is_never else near[:0]
        link = Link(self.vertices, None, x, np.zeros(len(x)), site.name)
        if isinstance(place, RigidEnds):
            ties = site.ties(self, *place.between(*site.single(self.vertices)))
            return Attached((ties,), (), (link,), place.beside(self.vertices[near]))
        ties = site.ties(self, *site.single(self.vertices), place=place)
        together = site.around(self.vertices[near], place.corners[near], self.body)
        return Attached((ties,), together, (link,))
