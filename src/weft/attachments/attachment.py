"""Attachments as a scene says them: which points of the cloth, to what, how stiff, until when."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, TypeAlias, Union

import numpy as np

from weft.energies.release import NEVER, Release
from weft.errors import SceneError
from weft.given import numbers, whole
from weft.pins import Path
from weft.settings import REQUIRED, check_settings, documented, setting

NEAR = 0.05  # [m] within which points are attached without a word
STIFF = "per point; none: 100 times the fabric's in stretch"
Place: TypeAlias = tuple[float, float, float]


@documented
@dataclass(frozen=True, eq=False)
class AttachToBody:
    """Points of the cloth that follow a body, each where it starts beside the body's nearest face,
    as this moves, turns and deforms: straps, buttons, hems.

    ``vertices`` are ids, ``body`` is a name, ``release`` says when they let go.
    """

    vertices: Any
    body: str
    _: KW_ONLY
    stiffness: float | None = setting(None, STIFF, "N/m", above=0)
    within: float = setting(NEAR, "largest distance from the body at the start", "m", above=0)
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        _checked(self, "attach to body")


@documented
@dataclass(frozen=True, eq=False)
class AttachCloth:
    """Points of the cloth that are tied to others of it, of the same piece or of another.

    ``vertices`` and ``to`` are ids, pair by pair, or one ``to`` for all.
    """

    vertices: Any
    to: Any
    _: KW_ONLY
    length: float | None = setting(
        None,
        "beyond which they are pulled; none: 0, or with contact and a release its gap and "
        "thickness",
        "m",
        least=0,
    )
    closing: float = setting(0.0, "in which they are brought to it; 0: at once", "s", least=0)
    stiffness: float | None = setting(None, STIFF, "N/m", above=0)
    within: float = setting(NEAR, "largest distance at the start, without closing", "m", above=0)
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        _checked(self, "attach cloth")


@documented
@dataclass(frozen=True, eq=False)
class Rope:
    """Ropes without weight from points of the cloth: they pull where they would be longer than they
    are, and are slack else.

    They end at other points (``to``, pair by pair or one), at the place of the body ``body`` that
    is nearest to ``at`` (None: to each point), or at the place ``at``, which may move along
    ``path``.
    """

    vertices: Any
    _: KW_ONLY
    to: Any = None
    body: str | None = None
    at: Any = setting(None, "place of the other end, at the start", "m")
    path: Path | None = None
    length: float | None = setting(None, "none: the distance at the start", "m", above=0)
    stiffness: float | None = setting(None, STIFF, "N/m", above=0)
    onset: float = setting(
        0.01, "part of the length over which it becomes stiff", above=0, most=1.0
    )
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        _checked(self, "rope")
        _check_ends(self, "rope")


@documented
@dataclass(frozen=True, eq=False)
class Spring:
    """Springs from points of the cloth, which pull and push; their other ends are those of a
    ``Rope``.
    """

    vertices: Any
    _: KW_ONLY
    to: Any = None
    body: str | None = None
    at: Any = setting(None, "place of the other end, at the start", "m")
    path: Path | None = None
    stiffness: float = setting(REQUIRED, "per point", "N/m", above=0)
    length: float | None = setting(None, "none: the distance at the start", "m", least=0)
    damping: float = setting(0.0, "over the stiffness", "s", least=0)
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        _checked(self, "spring")
        _check_ends(self, "spring")


@documented
@dataclass(frozen=True, eq=False)
class Slide:
    """Rings: points of the cloth that slide along a pole, rope or rail, and stop at its ends.

    ``along`` are its points, a polyline (p,3) at the start; it may follow the body ``body``, face
    by face, or be part of it where that is rigid (without ``spacing``), or move along ``path``.
    """

    vertices: Any
    along: Any = setting(REQUIRED, "points of the rail", "m")
    _: KW_ONLY
    body: str | None = None
    path: Path | None = None
    radius: float = setting(
        0.0, "of the rings: distance from the rail that the points keep", "m", least=0
    )
    friction: float = setting(0.0, "coefficient, on the rail; not in equilibria", least=0)
    spacing: float = setting(
        0.0, "that neighbors keep along the rail, in their order; 0: they pass freely", "m", least=0
    )
    stiffness: float | None = setting(None, STIFF, "N/m", above=0)
    within: float = setting(
        NEAR, "largest distance at the start from where they would be held", "m", above=0
    )
    release: Release = NEVER
    name: str = ""

    def __post_init__(self) -> None:
        _checked(self, "slide")
        if self.body is not None and self.path is not None:
            raise SceneError(
                f"{self.name or 'slide'}.path", got="a path and a body", expected="one of the two"
            )
        name = self.name or "slide"
        _check_rail(numbers(self.along, (None, 3), f"{name}.along", SceneError), name)


Attachment: TypeAlias = Union[AttachToBody, AttachCloth, Rope, Spring, Slide]  # noqa: UP007
KINDS = (AttachToBody, AttachCloth, Rope, Spring, Slide)


def _checked(made: Any, kind: str) -> None:
    """Settings in range, ids as arrays, places as tuples, a release that is one."""
    for field in ("at", "along"):
        given = getattr(made, field, None)
        if isinstance(given, np.ndarray):
            object.__setattr__(made, field, tuple(given.tolist()))
    check_settings(made, made.name or kind)
    for field in ("vertices", "to"):
        given = getattr(made, field, None)
        if given is None:
            continue
        what, flat = f"{made.name or kind}.{field}", [given] if np.isscalar(given) else given
        ids = whole(flat, (None,), what, SceneError)
        if ids.size == 0:
            raise SceneError(what, got="nothing", expected="ids of vertices, at least one")
        object.__setattr__(made, field, ids)
    if not isinstance(made.release, Release):
        got = type(made.release).__name__
        raise SceneError(f"{made.name or kind}.release", got=got, expected="a weft.Release")


def _check_ends(made: Any, kind: str) -> None:
    """One other end; a path for what is at a place."""
    name = made.name or kind
    at = (0, 0, 0) if made.at is None else made.at
    if not np.isfinite(numbers(at, (3,), f"{name}.at", SceneError)).all():
        raise SceneError(f"{name}.at", got=made.at, expected="three finite numbers [m]")
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
    """At least two finite points, all apart."""
    if len(rail) < 2 or not np.isfinite(rail).all():
        got = f"shape {rail.shape}"
        raise SceneError(f"{name}.along", got=got, expected="two or more finite points (p, 3) [m]")
    sizes = np.linalg.norm(np.diff(rail, axis=0), axis=1)
    if sizes.min() <= 1e-9:
        k = int(sizes.argmin())
        raise SceneError(
            f"{name}.along", got=f"points {k} and {k + 1} at one place", expected="all apart"
        )
