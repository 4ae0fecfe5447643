"""Rings: points of the cloth that slide along a pole, rope or rail."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from weft.base.arrays import Floats, Ints, VertexSelection
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.base.trees import Json
from weft.bodies.joints.anchors import BodyAnchor, FixedAnchor
from weft.bodies.motion.pins import Path
from weft.cloth.attachments.attached import Attached
from weft.cloth.attachments.attachment import (
    CHOSEN,
    MOVES,
    NEAR,
    STIFF,
    UNCHECKED,
    Attachment,
    Place,
    Weight,
)
from weft.cloth.attachments.site import SLACK, Site
from weft.discretization.polygon import arc_lengths
from weft.energies.energy import Energy
from weft.energies.springs.point_springs import MovedPlaces, PointSprings
from weft.energies.springs.rail import feet_on
from weft.energies.springs.release import NEVER, Release
from weft.energies.springs.ring_spacing import RingSpacing

SLIP = 1e-4  # [m] sliding distance over which friction on a rail rises to its full value


@checked(SceneError, "slide", named=True, unchecked=UNCHECKED)
@documented
@dataclass(frozen=True, eq=False)
class Slide(Attachment):
    """Rings: points of the cloth that slide along a pole, rope or rail, and stop at its ends.

    ``along`` are the points of the rail, a polyline (p,3) at the start. The rail may follow the
    body ``body`` face by face, be part of this body if it is rigid (without ``spacing``), or move
    along ``path``.
    """

    kind = "slide"

    vertices: VertexSelection
    along: Sequence[Place] = setting(REQUIRED, "points of the rail", "m", constant=MOVES)
    _: KW_ONLY
    body: str | None = None
    path: Path | None = None
    radius: float = setting(
        0.0,
        "radius of the rings: distance between the points and the rail",
        "m",
        least=0,
        keyframes=True,
    )
    friction: float = setting(
        0.0, "friction coefficient on the rail; equilibria ignore it", least=0, keyframes=True
    )
    spacing: float = setting(
        0.0,
        "smallest distance between neighboring rings along the rail; 0: rings pass each other",
        "m",
        least=0,
        keyframes=True,
    )
    stiffness: float | None = setting(None, STIFF, "N/m", above=0, keyframes=True)
    within: float = setting(
        NEAR,
        "largest distance between a point and its ring at the start",
        "m",
        above=0,
        constant=CHOSEN,
    )
    weight: Weight | None = None
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.body is not None and self.path is not None:
            raise SceneError(
                f"{self.name or 'slide'}.path", got="a path and a body", expected="one of the two"
            )
        name = self.name or "slide"
        _check_rail(np.asarray(self.along, dtype=np.float64).reshape(-1, 3), name)

    def build(self, site: Site) -> Attached:
        """Build rings on a rail: springs to the rail, and the spacing between neighboring rings."""
        x, rail = site.cloth.vertices[self.vertices], np.asarray(self.along, dtype=np.float64)
        along = arc_lengths(rail)
        rigid = None if self.body is None else site.rigid(self.body)
        feet = feet_on(x, rail, along)
        off = np.abs(np.linalg.norm(x - feet.place, axis=1) - self.radius)
        far = int(off.argmax())
        if off[far] > self.within:
            raise SceneError(
                f"{site.name}.within",
                got=f"{site.cloth.name_of(self.vertices[far])}, {off[far]:.3g} m from its ring",
                expected=f"at most {self.within:.3g} m",
                hint="start the cloth at the rail (`along`), or give a larger `within`",
            )
        rings: dict[str, Floats | float] = {"length": np.full(len(x), self.radius), "along": along}
        rings |= {"friction": self.friction, "slip": SLIP}
        stencil, c = site.single(self.vertices)
        if rigid is not None:
            self._check_no_spacing(site)
            nodes, ids = rigid.body.weights(rail), rigid.stencil(len(x))
            points = np.concatenate([stencil, ids], axis=1)
            return Attached((site.ties(self, points, c, nodes=nodes, **rings),))
        if self.body is None:
            moving: MovedPlaces = FixedAnchor(rail, self.path)
        else:
            moving = BodyAnchor.of(rail, site.bodies, self.body, site.name)
        ties = site.ties(self, stencil, c, rail=moving, **rings)
        if self.spacing == 0 or len(x) < 2:
            return Attached((ties,))
        order = np.argsort(feet.s, kind="stable")
        apart = np.diff(feet.s[order])
        if apart.min() < self.spacing * (1 - SLACK):
            k = int(apart.argmin())
            i, j = self.vertices[order[[k, k + 1]]]
            raise SceneError(
                f"{site.name}.spacing",
                got=f"{site.cloth.name_of(i)} and {site.cloth.name_of(j)}, {apart[k]:.4g} m apart",
                expected=f"{self.spacing:.4g} m or more along the rail, at the start",
            )
        pairs = np.stack([order[:-1], order[1:]], axis=1).astype(np.int32)
        return Attached((ties, self._space(ties, pairs)))

    def _space(self, rings: PointSprings, pairs: Ints) -> RingSpacing:
        """Return the spacing of pairs (q,2) of neighboring rings."""
        stiff = np.asarray(rings.stiffness)[pairs].min(axis=1)
        return RingSpacing(rings, pairs, self.spacing, stiff, f"{rings.name} spacing")

    def _check_no_spacing(self, site: Site) -> None:
        """Raise a SceneError for spacing on a pole that is part of a rigid body."""
        if self.spacing > 0:
            raise SceneError(
                f"{site.name}.spacing",
                got=f"{self.spacing:g} m, on the rigid body {self.body!r}",
                expected="no spacing, because the body is rigid",
                hint="or `kind: body`: clips",
            )

    def numbers(self, springs: PointSprings) -> Json:
        """Return the radius of the rings, and their friction."""
        return {"length": np.full(len(springs), self.radius), "friction": self.friction}

    def updated(self, energies: Sequence[Energy]) -> Sequence[Energy]:
        """Return rings, and the spacing between them if there is any, with these numbers."""
        rings, *spacing = super().updated(energies)
        assert isinstance(rings, PointSprings)
        return [rings, *(self._space(rings, s.pairs) for s in spacing)]  # type: ignore[attr-defined]


def _check_rail(rail: Any, name: str) -> None:
    """Check that a rail has at least two points, and that consecutive points differ."""
    if len(rail) < 2:
        got = f"shape {rail.shape}"
        raise SceneError(f"{name}.along", got=got, expected="two or more points (p, 3) [m]")
    sizes = np.linalg.norm(np.diff(rail, axis=0), axis=1)
    if sizes.min() <= 1e-9:
        k = int(sizes.argmin())
        raise SceneError(
            f"{name}.along", got=f"points {k} and {k + 1} at one place", expected="all apart"
        )
