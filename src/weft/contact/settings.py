"""Settings of contact: what does not pass through what, at which distance, and friction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import REQUIRED, ROOM, Accepts, documented, setting

PINCH = ("stop", "thin", "release")
PRESCRIBED = ("stop", "pass")


@checked(SceneError, "contact.friction")
@documented
@dataclass(frozen=True)
class Friction:
    """Coulomb friction with a static and a kinetic coefficient."""

    static: float = setting(
        REQUIRED, "coefficient up to which pairs stick", least=0, keyframes=True
    )
    kinetic: float | None = setting(
        None,
        "coefficient while they slide, at most the static one; none: equal",
        least=0,
        keyframes=True,
    )
    map: str | None = setting(
        None,
        "painted weights of cloth: the coefficients are those where they are 1, on both sides of a "
        "pair; none: everywhere",
        constant="paint is that of the material",
    )
    low: float | None = setting(
        None,
        "part of the coefficients that is left where the weights of `map` are 0; none: 0",
        least=0,
        most=1,
        constant="paint is that of the material",
    )

    def __post_init__(self) -> None:
        if self.low is not None and self.map is None:
            raise SceneError("contact.friction.low", got=self.low, expected="a `map` beside it")
        if self.sliding > self.static:
            raise SceneError(
                "contact.friction.kinetic",
                got=self.kinetic,
                expected=f"from 0 to the static one, {self.static:g}",
            )

    @property
    def sliding(self) -> float:
        """Return the coefficient while pairs slide."""
        return self.static if self.kinetic is None else self.kinetic


@checked(SceneError, "contact.pairs")
@documented
@dataclass(frozen=True)
class Between:
    """Contact between two named things: cloths, bodies, or (to ignore each other) groups of the
    mesh.
    """

    names: tuple[str, str] = setting(
        REQUIRED, "both names; twice the same: with itself", key="between"
    )
    friction: Annotated[Friction | None, Accepts(Friction | float | None)] = setting(
        None, "in place of the scene's", least=0, keyframes=True
    )
    ignore: bool = setting(False, "they do not meet at all")

    def __post_init__(self) -> None:
        if self.friction is None and not self.ignore:
            raise SceneError(
                f"contact.pairs {self.names[0]}, {self.names[1]}",
                expected="friction, or ignore: true",
            )
        given: object = self.friction
        if isinstance(given, float | int):
            object.__setattr__(self, "friction", Friction(given))


@checked(SceneError, "contact")
@documented
@dataclass(frozen=True)
class SelfContact:
    """Contact of the cloth with itself and with bodies: it passes through neither."""

    gap: float = setting(
        1e-3,
        "from which on it is pushed apart; less than 5 heights of the cloth's triangles",
        "m",
        least=1e-12,
        constant=ROOM,
    )
    thickness: float = setting(
        0.0,
        "that is kept in any case; cloths and bodies may have their own, a pair keeps the mean",
        "m",
        least=0,
        constant=ROOM,
    )
    friction: float | Friction = setting(
        0.0,
        "coefficient, or {static, kinetic}, of cloth on cloth and on bodies; not in equilibria",
        least=0,
        keyframes=True,
    )
    stick: float = setting(
        1e-3,
        "times the step: elastic slip over which friction grows smoothly from 0 before it slides",
        "m/s",
        above=0,
        keyframes=True,
    )
    friction_from: float = setting(
        0.0,
        "time from which on there is friction: what is sewn slides into its place",
        "s",
        least=0,
        constant="a time itself; contact.friction has keyframes, from 0",
    )
    lags: int = setting(
        1,
        "how often, at most, a step takes friction's normal forces anew and is solved again",
        least=1,
        constant="how a step is solved, not what: a count",
    )
    pairs: Sequence[Between] = setting((), "named pairs that differ from the rest")
    pinch: str = setting(
        "stop",
        "where bodies leave less room than the thickness: stop; thin: go on with the thickness "
        "that has room; release: let the cloth pass through the bodies there. Both are reported",
        choices=PINCH,
    )
    prescribed: str = setting(
        "stop",
        "where pinned cloth passes through bodies or other pinned cloth: stop, or pass: go on, and "
        "count these intersections apart",
        choices=PRESCRIBED,
    )
    resolve: bool = setting(
        False,
        "untangle what intersects or is too near at the start, and push cloth that is up to 3 cm "
        "inside a closed body out of it; says what moved",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.friction, Friction):
            object.__setattr__(self, "friction", Friction(self.friction))
