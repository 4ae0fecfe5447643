"""Keyframes: numbers that change in time, and their interpolation.

A step is one minimization with the numbers at its end; functions that use them say so
(``docs/guides/keyframes.md``). Keyframed numbers depend on the time alone, so that runs resume
bitwise. Motions of pins and bodies have a class of their own (``bodies.motion.pins.Path``).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import SceneError, WeftError, check_known
from weft.base.runtime_types import checked
from weft.base.trees import Yaml, YamlMapping
from weft.base.units import max_magnitude, to_si

Between = Literal["linear", "smooth", "hold"]
FIELDS = ("keys", "between")  # fields of keyframes in a file
PIECES = 8  # subintervals between two keys in ``quotient_integral``


@checked(
    SceneError, "keys", unchecked=("is_keyframes", "read", "of", "with_values", "at", "integral")
)
@dataclass(frozen=True)
class Keys:
    """A number given at some times; it is constant before the first key and after the last one.

    Args:
        points: (time [s], number in SI) of each key, times increasing.
        between: ``linear``; ``smooth``: the monotone cubic of Fritsch & Carlson (1980), which does
            not overshoot; ``hold``: the value of each key until the next one.

    Raises:
        SceneError: there are no keys, times do not increase, numbers are not finite, or ``between``
            is another word.
    """

    points: Sequence[tuple[float, float]]
    between: Between = "linear"

    def __post_init__(self) -> None:
        given = tuple((float(t), float(v)) for t, v in self.points)
        object.__setattr__(self, "points", given)
        if not given:
            raise SceneError("keys", got="none", expected="[time, number], at least one")
        if not np.isfinite(given).all():
            raise SceneError("keys", got=given, expected="finite times and numbers")
        if max(abs(t) for t, _ in given) > max_magnitude("s"):
            raise SceneError(
                "keys", got=given, expected=f"times of at most {max_magnitude('s'):g} s"
            )
        for (before, _), (after, _) in pairwise(given):
            if not before < after:
                raise SceneError(
                    "keys", got=f"{before:g} s, then {after:g} s", expected="times that increase"
                )

    @staticmethod
    def is_keyframes(value: object) -> bool:
        """Return True if a value from a file is keyframes."""
        return isinstance(value, Mapping) and "keys" in value

    @staticmethod
    def read(value: YamlMapping, what: str) -> tuple[list[tuple[float, Yaml]], Between]:
        """Return times [s] with the value that a file gives at each, and the interpolation.

        Args:
            value: ``{keys: [[0 s, 1 N/m], [1 s, 5 N/m]], between: linear}``.
            what: name of the field in messages.

        Raises:
            SceneError: the value has other fields, an entry is not a pair, or a time is invalid.
        """
        for name in value:
            check_known(str(name), FIELDS, f"field of {what}", SceneError)
        pairs = value.get("keys", ())
        fine = isinstance(pairs, list | tuple) and pairs
        if not fine or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
            raise SceneError(
                f"{what}.keys",
                got=repr(pairs),
                expected="pairs [time, number]",
                hint="such as [[0 s, 1 N/m], [1 s, 5 N/m]]",
            )
        timed = [(to_si(t, "s", f"{what}.keys.{k}"), v) for k, (t, v) in enumerate(pairs)]
        return timed, value.get("between", "linear")

    @staticmethod
    def of(
        timed: Sequence[tuple[float, float]], between: Between, what: str, error: type[WeftError]
    ) -> "Keys":
        """Build the keyframes of a field of a file.

        Args:
            timed: (time [s], number in SI) of each key.
            between: kind of interpolation.
            what: name of the field, with which error messages begin.
            error: class of the errors.

        Raises:
            WeftError: of the class ``error``; for the reasons of the constructor.
        """
        try:
            return Keys(tuple(timed), between)
        except SceneError as e:
            raise error(f"{what}: {e.what}", got=e.got, expected=e.expected, hint=e.hint) from None

    @cached_property
    def _columns(self) -> tuple[Floats, Floats]:
        t, v = np.array(self.points, dtype=np.float64).T
        return t, v

    @cached_property
    def _curve(self) -> Any:
        """The monotone cubic, a ``scipy.interpolate.PchipInterpolator``."""
        from scipy.interpolate import PchipInterpolator

        return PchipInterpolator(*self._columns)

    @property
    def times(self) -> Floats:
        """The times (k,) [s] of the keys."""
        return self._columns[0]

    @property
    def values(self) -> Sequence[float]:
        """The numbers at the keys."""
        return [v for _, v in self.points]

    def with_values(self, values: float | Floats) -> "Keys":
        """Return keyframes at the same times with other values (k,), or one for all."""
        given = np.broadcast_to(np.asarray(values, dtype=np.float64), (len(self.points),))
        return Keys([(t, float(v)) for (t, _), v in zip(self.points, given)], self.between)

    def at(self, t: float) -> float:
        """Return the number at time t [s]."""
        times, values = self._columns
        if len(times) == 1 or t <= times[0]:
            return float(values[0])
        if t >= times[-1]:
            return float(values[-1])
        if self.between == "hold":
            # The tolerance lets a key at the end of a step act in this step in spite of round-off.
            return float(values[np.searchsorted(times, t * (1 + 1e-12), "right") - 1])
        if self.between == "smooth":
            return float(self._curve(t))
        return float(np.interp(t, times, values))

    def integral(self, t: float) -> float:
        """Return the integral of the number from 0 to t [s], exact for every interpolation."""
        return self._since_first(t) - self._since_first(0.0)

    def _since_first(self, t: float) -> float:
        """Return the integral from the first key to t."""
        times, values = self._columns
        if t <= times[0] or len(times) == 1:
            return float(values[0] * (t - times[0]))
        end = min(t, float(times[-1]))
        if self.between == "smooth":
            inside = float(self._curve.integrate(times[0], end))
        else:
            k = int(np.searchsorted(times, end, "left"))  # number of keys before ``end``
            at = np.append(times[:k], end)
            v = np.append(values[:k], self.at(end))
            mean = v[:-1] if self.between == "hold" else (v[1:] + v[:-1]) / 2
            inside = float(np.sum(np.diff(at) * mean))
        return inside + float(values[-1]) * (t - end)


def quotient_integral(above: Keys, below: Keys, t: float) -> float:
    """Return the integral of ``above`` over ``below`` (> 0) from 0 to t [s].

    The quadrature is Gauss-Legendre with 16 points in each of ``PIECES`` subintervals between
    successive keys of both. Where ``below`` is linear, its ratio over each subinterval is the same,
    so that the quotient is equally smooth in all of them.
    """
    inside = {k for keys in (above, below) for k, _ in keys.points if min(0, t) < k < max(0, t)}
    place, weight = np.polynomial.legendre.leggauss(16)
    total = 0.0
    for a, b in pairwise(sorted({0.0, t, *inside})):
        first, last = below.at(a), below.at(b)
        # Fractions of the interval: equal ones, or those with equal ratios of ``below``.
        part = np.linspace(0.0, 1.0, PIECES + 1)
        if abs(last - first) > 0.01 * first:
            part = (np.geomspace(first, last, PIECES + 1) - first) / (last - first)
        edges = a + (b - a) * part
        for low, high in pairwise(edges):
            times = (low + high) / 2 + (high - low) / 2 * place
            values = np.array([above.at(s) / below.at(s) for s in times])
            total += (high - low) / 2 * float(weight @ values)
    return total if t >= 0 else -total


def first_of(number: float | Keys) -> float:
    """Return a number, or the first value of keyframes."""
    return float(number.values[0]) if isinstance(number, Keys) else number


def as_keys(number: float | Keys) -> Keys:
    """Return keyframes; a constant number becomes a single key."""
    return number if isinstance(number, Keys) else Keys(((0.0, number),))
