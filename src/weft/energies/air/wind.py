"""Wind: velocity of the air far from cloth, and the coefficients of its forces on cloth.

The velocity at a place and time is the sum of a constant, gusts that it carries, and a field. Cloth
and bodies do not shelter places behind them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Positions, Vector, Velocities
from weft.base.errors import SceneError
from weft.base.runtime_types import checked
from weft.base.settings import documented, setting
from weft.energies.air.gusts import Gusts, Waves
from weft.kernel import WarpArray, vec3

FieldOf = Callable[[Positions, float], Velocities]  # (m,3) [m] and t [s] to (m,3) [m/s]


DIFFERENCE = 1e-6  # [m] step of places, for derivatives of gusts and fields


@checked(SceneError, "wind", unchecked=("blow", "pull_back"))
@documented
@dataclass(frozen=True)
class Wind:
    """Air that flows past cloth, or stands still: lift and drag (``docs/guides/wind.md``).

    The fields of Python alone are ``field``, a function of places (m,3) [m] and the time [s] that
    returns velocities (m,3) [m/s], which are added to ``velocity`` and ``gusts``; and
    ``gust_offset`` (3,) [m], the distance that a changing wind has carried its gusts (None:
    velocity times t).

    Raises:
        SceneError: numbers that are not finite or out of range; gusts without a wind to carry them.
    """

    velocity: Vector = setting(
        (0.0, 0.0, 0.0),
        "velocity of the air far from bodies; zero: still air",
        "m/s",
        keyframes=True,
    )
    density: float = setting(1.2, "density of the air", "kg/m^3", above=0, keyframes=True)
    drag: float = setting(
        1.17,
        "drag coefficient of a sheet across the wind (a square plate: Hoerner 1965)",
        least=0,
        keyframes=True,
    )
    lift: float = setting(
        1.12,
        "lift coefficient: at the incidence a, lift is this times sin a cos a, and drag is drag "
        "- lift cos^2 a; drag - lift is the friction of a sheet along the wind",
        least=0,
        keyframes=True,
    )
    gusts: Gusts | None = setting(None, "turbulence of the wind; none: steady wind")
    field: FieldOf | None = None
    gust_offset: Vector | None = None
    crossflow: bool = setting(
        False,
        "true: drag across a sheet is proportional to |u.n| in place of |u|; for slender strips, "
        "whose lift at small incidence is their added mass",
    )

    def __post_init__(self) -> None:
        if self.lift > self.drag:
            raise SceneError(
                "wind.lift",
                got=self.lift,
                expected=f"must be <= drag, {self.drag:g}",
                hint="otherwise wind would pull a sheet against its direction",
            )
        if self.gusts is not None and not any(self.velocity):
            raise SceneError(
                "wind.gusts",
                got="gusts, but still air",
                expected="a wind velocity, which carries the gusts",
            )

    @property
    def speed(self) -> float:
        """Speed [m/s] of the constant part."""
        return float(np.linalg.norm(self.velocity))

    @cached_property
    def waves(self) -> Waves | None:
        """Waves of the gusts; None without gusts."""
        return None if self.gusts is None else self.gusts.waves(self.speed)

    def at(self, x: Positions, t: float, *, gusts: bool = True) -> Velocities:
        """Return the velocity of the air, (m,3) [m/s], at places x and time t.

        Args:
            x: (m,3) [m].
            t: [s].
            gusts: whether to include gusts; False: the mean wind.
        """
        out = kernel.empty(len(x), vec3)
        self.blow(kernel.points(x), t, out, gusts=gusts)
        return np.array(kernel.numpy(out))

    def blow(self, x: WarpArray, t: float, out: WarpArray, *, gusts: bool = True) -> None:
        """Write the velocity of the air into out (m,) vec3, on the device; arguments as of ``at``.

        Raises:
            SceneError: a function that gives another shape, or numbers that are not finite.
        """
        out.fill_(vec3(*self.velocity))
        if gusts and self.waves is not None:
            offset = self.gust_offset
            way = np.asarray(self.velocity) * t if offset is None else np.asarray(offset)
            self.waves.add(x, way, out)
        if self.field is not None:
            given = self._user_velocities(np.array(kernel.numpy(x)), t)
            now = np.array(kernel.numpy(out)) + given
            out.assign(kernel.points(now))

    def pull_back(self, x: Positions, t: float, by: Floats, *, gusts: bool = True) -> Floats:
        """Return derivatives by places x, (m,3), from those by the velocity there, by differences.

        Args:
            x: (m,3) [m].
            t: [s].
            by: (m,3).
            gusts: as of ``at``.
        """
        out = np.zeros_like(by)
        if self.gusts is None and self.field is None:
            return out
        for j, shift in enumerate(DIFFERENCE * np.eye(3)):
            high, low = (self.at(x + s, t, gusts=gusts) for s in (shift, -shift))
            out[:, j] = ((high - low) / (2 * DIFFERENCE) * by).sum(1)
        return out

    def _user_velocities(self, x: Positions, t: float) -> Floats:
        """Return the velocities of the user's function, (m,3) [m/s].

        Raises:
            SceneError: another shape, or numbers that are not finite.
        """
        assert self.field is not None
        v = np.asarray(self.field(x, t), dtype=np.float64)
        if v.shape != x.shape or not np.isfinite(v).all():
            got = f"shape {v.shape}" if v.shape != x.shape else "numbers that are not finite"
            raise SceneError(
                "wind.field", got=f"{got} at t = {t:g} s", expected=f"velocities, shape {x.shape}"
            )
        return v
