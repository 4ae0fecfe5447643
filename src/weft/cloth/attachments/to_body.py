"""Attachments of cloth to bodies: points that follow a face of a body."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from weft.base.arrays import VertexSelection
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.bodies.joints.anchors import BodyAnchor
from weft.cloth.attachments.attached import Attached
from weft.cloth.attachments.attachment import CHOSEN, NEAR, STIFF, UNCHECKED, Attachment, Weight
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
    weight: Weight | None = None
    release: Release = NEVER
    name: str = ""

    def build(self, site: Site) -> Attached:
        """Build springs that hold points of the cloth beside a body."""
        x = site.cloth.vertices[self.vertices]
        rigid = site.rigid(self.body)
        if rigid is None:
            place = BodyAnchor.of(x, site.bodies, self.body, site.name)
        distance = place.distance if rigid is None else rigid.nearest(x)[1]
        far = int(distance.argmax())
        if distance[far] > self.within:
            raise SceneError(
                f"{site.name}.within",
                got=f"{site.cloth.name_of(self.vertices[far])} at {distance[far]:.3g} m from "
                f"{self.body}",
                expected=f"at most {self.within:.3g} m",
                hint=f"move the cloth there, or write `within: {1.01 * distance[far]:.3g} m`",
            )
        near = np.flatnonzero(distance <= 2 * (site.reach or 0.0))
        near = near if self.release.is_never else near[:0]
        link = site.link(self.vertices, None, x, 0.0)
        single = site.single(self.vertices)
        if rigid is not None:
            ties = site.ties(self, *rigid.between(x, *single))
        else:
            ties = site.ties(self, *single, place=place)
        return Attached((ties,), site.around(self.vertices[near], self.body), (link,))
