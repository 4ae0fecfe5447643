"""Settings of attachments as a scene lists them: points, other end, stiffness, release."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Any, TypeAlias, Union

import numpy as np

from weft.base.arrays import VERTEX_IDS
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, documented, setting
from weft.bodies.motion.pins import Path
from weft.energies.springs.release import NEVER, Release

NEAR = 0.05  # [m] default of the largest distance at the start
STIFF = "per point; none: 100 times the fabric's in stretch"
MOVES = "places are those of the start; they move along attachments.path"
CHOSEN = (
    "a choice made at the start, which says what is near enough to be attached; how long what is "
    "attached may be is attachments.length"
)
Place: TypeAlias = tuple[float, float, float]


@checked(SceneError, "attach to body", named=True)
@documented
@dataclass(frozen=True, eq=False)
class AttachToBody:
    """Points of the cloth that follow a body: straps, buttons, hems.

    Each point keeps its position relative to the face of the body that is nearest at the start,
    while this face moves, turns and deforms. ``vertices`` are ids, ``body`` is a name, ``release``
    says when the points are released.
    """

    vertices: Annotated[Any, VERTEX_IDS]
    body: str
    _: KW_ONLY
    stiffness: float | None = setting(None, STIFF, "N/m", above=0, keyframes=True)
    within: float = setting(
        NEAR, "largest distance from the body at the start", "m", above=0, constant=CHOSEN
    )
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        _check_ids(self, "attach to body")


@checked(SceneError, "attach cloth", named=True)
@documented
@dataclass(frozen=True, eq=False)
class AttachCloth:
    """Points of the cloth that are tied to other points of it, of the same piece or of another.

    ``vertices`` and ``to`` are ids, pair by pair, or one ``to`` for all.
    """

    vertices: Annotated[Any, VERTEX_IDS]
    to: Annotated[Any, VERTEX_IDS]
    _: KW_ONLY
    length: float | None = setting(
        None,
        "beyond which they are pulled; none: 0, or with contact and a release its gap and "
        "thickness",
        "m",
        least=0,
        keyframes=True,
    )
    closing: float = setting(
        0.0,
        "in which they are brought to it; 0: at once",
        "s",
        least=0,
        constant="a time itself; how points come together by keyframes is attachments.length, with "
        "`within` as far as they start apart",
    )
    stiffness: float | None = setting(None, STIFF, "N/m", above=0, keyframes=True)
    within: float = setting(
        NEAR, "largest distance at the start, without closing", "m", above=0, constant=CHOSEN
    )
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        _check_ids(self, "attach cloth")


@checked(SceneError, "rope", named=True)
@documented
@dataclass(frozen=True, eq=False)
class Rope:
    """Weightless ropes from points of the cloth: a rope pulls if its ends are farther apart than
    its length, and is slack otherwise.

    The other ends are points of the cloth (``to``, pair by pair or one), the point of the body
    ``body`` that is nearest to ``at`` (None: to each vertex), or the place ``at``, which may move
    along ``path``.
    """

    vertices: Annotated[Any, VERTEX_IDS]
    _: KW_ONLY
    to: Annotated[Any, VERTEX_IDS] | None = None
    body: str | None = None
    at: Place | None = setting(None, "place of the other end, at the start", "m", constant=MOVES)
    path: Path | None = None
    length: float | None = setting(
        None, "none: the distance at the start", "m", above=0, keyframes=True
    )
    stiffness: float | None = setting(None, STIFF, "N/m", above=0, keyframes=True)
    onset: float = setting(
        0.01, "part of the length over which it becomes stiff", above=0, most=1.0, keyframes=True
    )
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        _check_ids(self, "rope")
        _check_ends(self, "rope")


@checked(SceneError, "spring", named=True)
@documented
@dataclass(frozen=True, eq=False)
class Spring:
    """Springs from points of the cloth, which pull and push; other ends are given as for
    ``Rope``.
    """

    vertices: Annotated[Any, VERTEX_IDS]
    _: KW_ONLY
    to: Annotated[Any, VERTEX_IDS] | None = None
    body: str | None = None
    at: Place | None = setting(None, "place of the other end, at the start", "m", constant=MOVES)
    path: Path | None = None
    stiffness: float = setting(REQUIRED, "per point", "N/m", above=0, keyframes=True)
    length: float | None = setting(
        None, "none: the distance at the start", "m", least=0, keyframes=True
    )
    damping: float = setting(0.0, "over the stiffness", "s", least=0, keyframes=True)
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        _check_ids(self, "spring")
        _check_ends(self, "spring")


@checked(SceneError, "slide", named=True)
@documented
@dataclass(frozen=True, eq=False)
class Slide:
    """Rings: points of the cloth that slide along a pole, rope or rail, and stop at its ends.

    ``along`` are the points of the rail, a polyline (p,3) at the start. The rail may follow the
    body ``body`` face by face, be part of this body if it is rigid (without ``spacing``), or move
    along ``path``.
    """

    vertices: Annotated[Any, VERTEX_IDS]
    along: Sequence[Place] = setting(REQUIRED, "points of the rail", "m", constant=MOVES)
    _: KW_ONLY
    body: str | None = None
    path: Path | None = None
    radius: float = setting(
        0.0,
        "of the rings: distance from the rail that the points keep",
        "m",
        least=0,
        keyframes=True,
    )
    friction: float = setting(
        0.0, "coefficient, on the rail; not in equilibria", least=0, keyframes=True
    )
    spacing: float = setting(
        0.0,
        "that neighbors keep along the rail, in their order; 0: they pass freely",
        "m",
        least=0,
        keyframes=True,
    )
    stiffness: float | None = setting(None, STIFF, "N/m", above=0, keyframes=True)
    within: float = setting(
        NEAR,
        "largest distance at the start from where they would be held",
        "m",
        above=0,
        constant=CHOSEN,
    )
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        _check_ids(self, "slide")
        if self.body is not None and self.path is not None:
            raise SceneError(
                f"{self.name or 'slide'}.path", got="a path and a body", expected="one of the two"
            )
        name = self.name or "slide"
        _check_rail(np.asarray(self.along, dtype=np.float64).reshape(-1, 3), name)


Attachment: TypeAlias = Union[AttachToBody, AttachCloth, Rope, Spring, Slide]  # noqa: UP007
KINDS = (AttachToBody, AttachCloth, Rope, Spring, Slide)


def _check_ids(made: Any, kind: str) -> None:
    """Check that an attachment has at least one vertex."""
    for field in ("vertices", "to"):
        ids = getattr(made, field, None)
        if ids is not None and ids.size == 0:
            what = f"{made.name or kind}.{field}"
            raise SceneError(what, got="nothing", expected="ids of vertices, at least one")


def _check_ends(made: Any, kind: str) -> None:
    """Check that there is exactly one kind of other end, and a path only with a place."""
    name = made.name or kind
    ends = [made.to is not None, made.body is not None, made.to is None and made.at is not None]
    if not any(ends) or (made.to is not None and (made.body is not None or made.at is not None)):
        raise SceneError(
            f"{name}.to, body, at",
            got="none of them" if not any(ends) else "points of the cloth and another end",
            expected="one other end: points of the cloth, a body, or a place",
        )
    if made.path is not None and (made.at is None or made.body is not None):
        raise SceneError(f"{name}.path", got="a path", expected="none, but with a place `at`")


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
