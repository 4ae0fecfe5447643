"""Attachments of points of the cloth to other points of it."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from weft.base.arrays import VertexSelection
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.base.trees import Json
from weft.cloth.attachments.attached import Attached
from weft.cloth.attachments.attachment import CHOSEN, NEAR, STIFF, UNCHECKED, Attachment, Weight
from weft.cloth.attachments.site import Site
from weft.energies.springs.point_springs import PointSprings
from weft.energies.springs.release import NEVER, Release

# extension over which a tie between points becomes stiff: fraction of its length, and at least [m]
ONSET_PART, ONSET_LEAST = 0.01, 1e-6


@checked(SceneError, "attach cloth", named=True, unchecked=UNCHECKED)
@documented
@dataclass(frozen=True, eq=False)
class AttachCloth(Attachment):
    """Points of the cloth that are tied to other points of it, of the same piece or of another.

    ``vertices`` and ``to`` are ids, pair by pair, or one ``to`` for all.
    """

    kind = "attach cloth"

    vertices: VertexSelection
    to: VertexSelection
    _: KW_ONLY
    length: float | None = setting(
        None,
        "distance above which the points are pulled together; none: 0, or gap plus thickness "
        "with contact and a release",
        "m",
        least=0,
        keyframes=True,
    )
    closing: float = setting(
        0.0,
        "time in which the points come together; 0: at once",
        "s",
        least=0,
        constant=(
            "this field is a time; for keyframes use attachments.length, with `within` at "
            "least the distance at the start"
        ),
    )
    stiffness: float | None = setting(None, STIFF, "N/m", above=0, keyframes=True)
    within: float = setting(
        NEAR, "largest distance at the start if closing is 0", "m", above=0, constant=CHOSEN
    )
    weight: Weight | None = None
    release: Release = NEVER
    name: str = ""

    def build(self, site: Site) -> Attached:
        """Build springs that tie points of the cloth to one another."""
        to = site.pairs(self.vertices, self.to)
        x = site.cloth.vertices
        gap = np.linalg.norm(x[self.vertices] - x[to], axis=1)
        length = self.length
        if length is None:
            length = 0.0 if site.reach is None or self.release.is_never else site.reach
        far = int(gap.argmax())
        if self.closing == 0 and gap[far] > length + self.within:
            raise SceneError(
                f"{site.name}.within",
                got=f"{site.cloth.name_of(self.vertices[far])} and {site.cloth.name_of(to[far])}, "
                f"{gap[far]:.3g} m apart",
                expected=f"at most {length + self.within:.3g} m, because closing is 0",
                hint="write `closing: 1 s`, or start the points nearer",
            )
        first = np.maximum(gap, length) if self.closing > 0 else None
        ties = site.ties(
            self,
            *site.between(self.vertices, to),
            length=np.full(len(to), length),
            first=first,
            closing=self.closing,
            pulls=length > 0 or self.closing > 0,
            onset=np.full(len(to), max(ONSET_PART * length, ONSET_LEAST)),
        )
        # Points that are tied nearer than half of the contact distance do not meet in contact,
        # which would push them apart.
        meets = site.reach is not None and length > site.reach / 2
        pairs = zip(self.vertices.tolist(), to.tolist())
        together = () if meets or not self.release.is_never else tuple(pairs)
        return Attached((ties,), together, (site.link(self.vertices, to, None, ties.length),))

    def numbers(self, springs: PointSprings) -> Json:
        """Return the lengths, if they are given, with what follows from them."""
        if self.length is None:
            return {}
        length = np.full(len(springs), float(self.length))
        onset = np.maximum(ONSET_PART * length, ONSET_LEAST)
        return {"length": length, "onset": onset, "pulls": self.length > 0 or self.closing > 0}
