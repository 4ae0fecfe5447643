"""Ropes and springs from points of the cloth to a place, a body, or other points of the cloth."""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from weft.base.arrays import VertexSelection
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.base.trees import Json
from weft.bodies.motion.pins import Path
from weft.cloth.attachments.attached import Attached
from weft.cloth.attachments.attachment import MOVES, STIFF, UNCHECKED, Attachment, Place, Weight
from weft.cloth.attachments.site import SLACK, Site
from weft.energies.springs.point_springs import PointSprings
from weft.energies.springs.release import NEVER, Release

SAME = 1e-9  # [m] distance below which two points coincide


@checked(SceneError, "rope", named=True, unchecked=UNCHECKED)
@documented
@dataclass(frozen=True, eq=False)
class Rope(Attachment):
    """Weightless ropes from points of the cloth: a rope pulls if its ends are farther apart than
    its length, and is slack otherwise.

    The other ends are points of the cloth (``to``, pair by pair or one), the point of the body
    ``body`` that is nearest to ``at`` (None: to each vertex), or the place ``at``, which may move
    along ``path``.
    """

    kind = "rope"

    vertices: VertexSelection
    _: KW_ONLY
    to: VertexSelection | None = None
    body: str | None = None
    at: Place | None = setting(None, "place of the other end at the start", "m", constant=MOVES)
    path: Path | None = None
    length: float | None = setting(
        None, "length without force; none: the distance at the start", "m", above=0, keyframes=True
    )
    stiffness: float | None = setting(None, STIFF, "N/m", above=0, keyframes=True)
    onset: float = setting(
        0.01,
        "fraction of the length over which the rope becomes stiff",
        above=0,
        most=1.0,
        keyframes=True,
    )
    weight: Weight | None = None
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_ends(self)

    def build(self, site: Site) -> Attached:
        """Build ropes, which pull when they are longer than their length."""
        ends, gap = site.ends(self)
        length = np.maximum(gap, SAME) if self.length is None else np.full(len(gap), self.length)
        short = gap > length * (1 + SLACK)
        if short.any():
            k = int(np.argmax(gap - length))
            raise SceneError(
                f"{site.name}.length",
                got=f"{length[k]:.4g} m, of {site.cloth.name_of(self.vertices[k])}",
                expected=f"at least the distance at the start, {gap[k]:.4g} m",
                hint="use a longer rope, or start the ends nearer",
            )
        ties = site.ties(
            self,
            ends.stencil,
            ends.c,
            length=length,
            pulls=True,
            onset=self.onset * length,
            place=ends.place,
            strand=site.width,
        )
        return Attached((ties,), (), (site.link(self.vertices, ends.to, ends.start, length),))

    def numbers(self, springs: PointSprings) -> Json:
        """Return the lengths, if they are given, and the onset."""
        new = _lengths(self, springs)
        return {**new, "onset": self.onset * new.get("length", springs.length)}


@checked(SceneError, "spring", named=True, unchecked=UNCHECKED)
@documented
@dataclass(frozen=True, eq=False)
class Spring(Attachment):
    """Springs from points of the cloth, which pull and push; other ends are given as for
    ``Rope``.
    """

    kind = "spring"

    vertices: VertexSelection
    _: KW_ONLY
    to: VertexSelection | None = None
    body: str | None = None
    at: Place | None = setting(None, "place of the other end at the start", "m", constant=MOVES)
    path: Path | None = None
    stiffness: float = setting(REQUIRED, "per point", "N/m", above=0, keyframes=True)
    length: float | None = setting(
        None, "length without force; none: the distance at the start", "m", least=0, keyframes=True
    )
    damping: float = setting(0.0, "damping over stiffness", "s", least=0, keyframes=True)
    weight: Weight | None = None
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_ends(self)

    def build(self, site: Site) -> Attached:
        """Build springs, which pull and push."""
        ends, gap = site.ends(self)
        length = gap if self.length is None else np.full(len(gap), self.length)
        lost = (gap <= SAME) & (length > 0)
        if lost.any():
            raise SceneError(
                f"{site.name}.length",
                got=f"{length[lost][0]:.4g} m, of {site.cloth.name_of(self.vertices[lost][0])}",
                expected="0 if both ends start at one place, as the spring has no direction there",
            )
        made = {"length": length, "damping": self.damping, "place": ends.place}
        made["strand"] = site.width
        return Attached((site.ties(self, ends.stencil, ends.c, **made),))

    def numbers(self, springs: PointSprings) -> Json:
        """Return the lengths, if they are given, and the damping."""
        return {**_lengths(self, springs), "damping": self.damping}


def _check_ends(made: Rope | Spring) -> None:
    """Check that there is exactly one kind of other end, and a path only with a place."""
    name = made.name or made.kind
    ends = [made.to is not None, made.body is not None, made.to is None and made.at is not None]
    if not any(ends) or (made.to is not None and (made.body is not None or made.at is not None)):
        raise SceneError(
            f"{name}.to, body, at",
            got="none of the three" if not any(ends) else "points of the cloth and another end",
            expected="exactly one other end: points of the cloth, a body, or a place",
        )
    if made.path is not None and (made.at is None or made.body is not None):
        raise SceneError(
            f"{name}.path", got="a path", expected="no path; a path needs a place `at`"
        )


def _lengths(made: Rope | Spring, springs: PointSprings) -> Json:
    """Return the lengths of ropes or springs, if they are given."""
    return {} if made.length is None else {"length": np.full(len(springs), float(made.length))}
