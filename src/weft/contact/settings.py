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
        REQUIRED, "static coefficient: up to this, pairs stick", least=0, keyframes=True
    )
    kinetic: float | None = setting(
        None,
        "kinetic coefficient, while pairs slide; at most the static one; none: the static one",
        least=0,
        keyframes=True,
    )
    map: str | None = setting(
        None,
        "name of painted weights of the cloth: coefficients hold where the weights are 1, on "
        "both sides of a pair; none: they hold everywhere",
        constant="paint belongs to the material",
    )
    low: float | None = setting(
        None,
        "fraction of the coefficients where the weights of `map` are 0; none: 0",
        least=0,
        most=1,
        constant="paint belongs to the material",
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
        REQUIRED, "both names; the same name twice: contact with itself", key="between"
    )
    friction: Annotated[Friction | None, Accepts(Friction | float | None)] = setting(
        None, "friction of this pair, in place of the scene's", least=0, keyframes=True
    )
    ignore: bool = setting(False, "true: no contact between these two")

    def __post_init__(self) -> None:
        if self.friction is None and not self.ignore:
            raise SceneError(
                f"contact.pairs {self.names[0]}, {self.names[1]}",
                expected="`friction`, or `ignore: true`",
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
        "distance below which contact pushes; less than 5 heights of the cloth's triangles",
        "m",
        least=1e-12,
        constant=ROOM,
    )
    thickness: float = setting(
        0.0,
        "smallest distance between surfaces; cloths and bodies may have their own thickness, "
        "then the mean of both holds",
        "m",
        least=0,
        constant=ROOM,
    )
    friction: float | Friction = setting(
        0.0,
        "coefficient, or {static, kinetic}, for cloth on cloth and on bodies; equilibria have no "
        "friction unless quasi_static.friction is true",
        least=0,
        keyframes=True,
    )
    stick: float = setting(
        1e-3,
        "speed below which friction grows smoothly from 0; the slip is this speed times the step",
        "m/s",
        above=0,
        keyframes=True,
    )
    friction_from: float = setting(
        0.0,
        "time at which friction begins; before, a garment slides into its place",
        "s",
        least=0,
        constant="this field is a time; give keyframes to contact.friction, from 0",
    )
    lags: int = setting(
        1,
        "largest number of times that a step updates the normal forces of friction and is solved "
        "again",
        least=1,
        constant="this count changes only how a step is solved",
    )
    pairs: Sequence[Between] = setting((), "pairs of names with other settings")
    pinch: str = setting(
        "stop",
        "if bodies leave less room than the thickness: stop; thin: continue with a smaller "
        "thickness; release: the cloth passes through the bodies there. weft reports both",
        choices=PINCH,
    )
    prescribed: str = setting(
        "stop",
        "if pinned cloth passes through bodies or other pinned cloth: stop; pass: continue, and "
        "count these intersections separately",
        choices=PRESCRIBED,
    )
    resolve: bool = setting(
        False,
        "at the start, separate cloth that intersects or is too near, and push cloth out of a "
        "closed body (up to 3 cm deep); weft reports the changes",
    )

    def __post_init__(self) -> None:
        if not isinstance(self.friction, Friction):
            object.__setattr__(self, "friction", Friction(self.friction))
