"""Attachments against closed forms: springs, ropes, rings on a pole, and times of release.

A weight on a spring sinks by m g/k and swings with 2 pi sqrt(m/k); on a rope of length L that is
taut it swings by an angle a with the period 4 sqrt(L/g) K(sin(a/2)), K the complete elliptic
integral. Ropes that carry equal weights between two places hang as their discrete catenary: the
slope of the k-th is (w/H) (k - (n - 1)/2), with H found from the span. A ring on a pole of slope a
is accelerated by g (sin a - mu cos a), and rests if tan a < mu.
"""

import numpy as np

from weft.base.arrays import Floats, Ints, Positions
from weft.bodies.joints.anchors import FixedAnchor
from weft.bodies.motion.pins import Keyframe, Path, Pin
from weft.discretization.polygon import arc_lengths
from weft.energies.loads.gravity import Gravity
from weft.energies.springs.point_springs import PointSprings
from weft.energies.springs.release import Release
from weft.energies.springs.ring_spacing import RingSpacing
from weft.energies.state import State
from weft.integrators.base import StepSettings
from weft.integrators.bdf2 import Bdf2
from weft.integrators.model import Model
from weft.plugins.lab.validate.check import Check, Rows, attempt, compare, measure
from weft.plugins.lab.validate.stepping import mean_period, mean_rate, take_steps
from weft.plugins.lab.validate.strip import GRAVITY, settle

MASS, SOFT, STIFF = 0.02, 50.0, 1e5  # [kg], [N/m]
SLOPE = 25.0  # [degrees] of the pole
STEP = 2e-3  # [s] of sliding rings and of springs that let go
PIECES = 40  # pieces of the hanging rope
ONE = np.zeros((1, 1), np.int32)  # the first point
REST = 1e-3  # [m/s] largest mean speed of a resting ring over the last 0.1 s


def checks() -> Rows:
    """Compare extension, periods, a catenary, rings, and the times of release."""
    yield from attempt("attachments/spring", _spring)
    yield from attempt("attachments/pendulum", _pendulum)
    span = 0.6
    sag = sag_of(PIECES, 1 / PIECES, span)
    yield from measure("attachments/rope, catenary", sag, 1e-4, rope_sag, span)
    yield from attempt("attachments/ring", _ring)
    yield from attempt("attachments/rings pressed", _pressure)
    yield from attempt("attachments/release", _release)


def _spring() -> Rows:
    length = 0.3
    model, start = hanging_weight(SOFT, length, (0.0, -length, 0.0))
    extension = MASS * GRAVITY / SOFT
    got = -length - float(settle(model, start).x[0, 1])
    yield compare("attachments/spring, extension", extension, got, 1e-9)
    period = 2 * np.pi * np.sqrt(MASS / SOFT)
    heights = motion(model, start, period / 300, 400)[:, 0, 1]
    got = mean_period(heights + length + extension, period / 300)
    yield compare("attachments/spring, period", period, got, 2e-4)


def _pendulum() -> Rows:
    from scipy.special import ellipk

    length, angle = 0.5, np.radians(40.0)
    start = length * np.array([np.sin(angle), -np.cos(angle), 0.0])
    model, x = hanging_weight(STIFF, length, tuple(start.tolist()), rope=True)
    period = 4 * np.sqrt(length / GRAVITY) * float(ellipk(np.sin(angle / 2) ** 2))
    got = mean_period(motion(model, x, period / 500, 600)[:, 0, 0], period / 500)
    yield compare("attachments/rope, pendulum at 40 degrees", period, got, 2e-4)


def rope_sag(span: float) -> float:
    """Return the sag [m] of a rope of 1 m that hangs by its ends, ``span`` [m] apart."""
    n, piece = PIECES, 1.0 / PIECES
    s = (np.arange(1, n) / n - 0.5) * span
    x = np.stack([s, -0.36 * (1 - (2 * s / span) ** 2), np.zeros(n - 1)], axis=1)
    ids = np.arange(n - 1, dtype=np.int32)
    pairs, ends = np.stack([ids[:-1], ids[1:]], axis=1), ids[[0, -1]][:, None]
    places = FixedAnchor(np.array([[-span / 2, 0.0, 0.0], [span / 2, 0.0, 0.0]]))
    rope = {"length": piece, "pulls": True, "onset": 1e-7}
    between = springs(pairs, STIFF, "rope", **rope)
    hold = springs(ends, STIFF, "ends", place=places, **rope)
    mass = np.full(n - 1, MASS / n)
    model = Model(mass, (between, hold, Gravity(mass)))
    return -float(settle(model, x).x[:, 1].min())


def _ring() -> Rows:
    a = np.radians(SLOPE)
    yield compare("attachments/ring, slides freely", GRAVITY * np.sin(a), acceleration(0.0), 1e-6)
    rate = GRAVITY * (np.sin(a) - 0.3 * np.cos(a))
    yield compare("attachments/ring, slides with friction", rate, acceleration(0.3), 1e-3)
    for part in (0.95, 1.05):
        mu = float(np.tan(a) * part)
        rests = abs(float(slide_speeds(mu, 120)[-50:].mean())) < REST
        name = f"attachments/ring, rests at {part:g} tan a"
        yield compare(name, part > 1, rests, 0.0)


def _pressure() -> Rows:
    """Compare five rings on an upright pole: each one rests on those below it."""
    n, apart, k = 5, 0.05, 1e4
    rail = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    x = np.stack([np.zeros(n), 0.01 + 0.06 * np.arange(n), np.zeros(n)], axis=1)
    rings = on_rail(n, rail, 0.0)
    pairs = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1).astype(np.int32)
    mass = np.full(n, MASS)
    between = RingSpacing(rings, pairs, apart, np.full(n - 1, k))
    model = Model(mass, (rings, between, Gravity(mass)))
    heights = settle(model, x).x[:, 1]
    load = MASS * GRAVITY * (n - 1 - np.arange(n - 1))
    near = np.sqrt(2 * between.onset * load / k)  # k e^2/(2 o) = load
    expected = float((apart - near).sum())
    yield compare("attachments/rings pressed, height", expected, heights[-1], 1e-6)


def _release() -> Rows:
    """Compare the time at which a tie lets go: by its force, at a time, or by a function.

    A spring between a fixed vertex and a place that moves away with the speed u lets go after F/(k
    u). None of these times is the end of a step, because round-off would then decide in which step
    the tie lets go.
    """
    speed, force, half = 0.5, 4.02, 2.03
    ends = (Keyframe(0.0), Keyframe(1.0, (speed, 0.0, 0.0)))
    place = FixedAnchor(np.zeros((1, 3)), Path(ends, "linear"))
    for name, release, expected in (
        ("force", Release(force=force), force / (SOFT * speed)),
        ("time", Release(at=0.0724), 0.0724),
        ("function", Release(when=lambda held: bool(held.force[0] > half)), half / (SOFT * speed)),
    ):
        tie = springs(ONE, SOFT, "tie", place=place, release=release)
        model = Model(np.array([MASS]), (tie,), (Pin(ONE[0]),), np.zeros((1, 3)))
        start, last = State.at_rest(np.zeros((1, 3))), 0.0
        for state, _, report in take_steps(model, start, Bdf2(), [STEP] * 100):
            if report.attachments["tie"]["holds"]:
                last = state.t
        late = abs(last - expected)
        yield Check(f"attachments/release at a {name}", expected, last, late, STEP, late <= STEP)


def springs(points: Ints, stiffness: float, name: str, **settings: object) -> PointSprings:
    """Return springs of points (m,1) that ``place`` or ``rail`` holds, or between pairs (m,2)."""
    m, k = points.shape
    weights = np.tile([1.0, -1.0][:k], (m, 1))
    return PointSprings(points, weights, np.full(m, stiffness), name, **settings)  # type: ignore[arg-type]


def hanging_weight(
    k: float, length: float, x: tuple[float, float, float], rope: bool = False
) -> tuple[Model, Positions]:
    """Return a weight at x on a spring or a rope from the origin."""
    place, onset = FixedAnchor(np.zeros((1, 3))), 1e-6 if rope else 0.0
    tie = springs(ONE, k, "tie", length=length, pulls=rope, onset=onset, place=place)
    mass = np.array([MASS])
    return Model(mass, (tie, Gravity(mass))), np.array([x])


def on_rail(n: int, rail: Positions, friction: float) -> PointSprings:
    """Return n rings on a pole."""
    ids = np.arange(n, dtype=np.int32)[:, None]
    along = arc_lengths(rail)
    return springs(ids, STIFF, "rings", rail=FixedAnchor(rail), along=along, friction=friction)


def slide_speeds(friction: float, steps: int) -> Floats:
    """Return the speeds (steps,) [m/s] of a ring that is let go on a sloping pole."""
    a = np.radians(SLOPE)
    d = np.array([np.cos(a), -np.sin(a), 0.0])
    rail = np.array([-1.0 * d, 0.3 * d, 3.0 * d])
    mass = np.array([MASS])
    model = Model(mass, (on_rail(1, rail, friction), Gravity(mass)))
    return np.asarray(np.diff(motion(model, np.zeros((1, 3)), STEP, steps)[:, 0] @ d) / STEP)


def acceleration(friction: float) -> float:
    """Return the acceleration [m/s^2] of that ring."""
    return mean_rate(slide_speeds(friction, 100)[40:], STEP)


def sag_of(n: int, piece: float, span: float) -> float:
    """Return the sag [m] of n equal pieces of rope that carry equal weights at their joints."""
    from scipy.optimize import brentq

    k = np.arange(n) - (n - 1) / 2

    def width(ratio: float) -> float:
        return float(piece * (1 / np.sqrt(1 + (ratio * k) ** 2)).sum()) - span

    slope = brentq(width, 1e-6, 1e3) * k
    heights = np.cumsum(piece * slope / np.sqrt(1 + slope**2))
    return float(-heights.min())


def motion(model: Model, x: Positions, dt: float, steps: int) -> Floats:
    """Return the positions (steps + 1,n,3) [m] of a motion from rest, by BDF2."""
    start, stepper = State.at_rest(x), Bdf2(StepSettings(tolerance=1e-6))
    return np.array([x, *(s.x for s, _, _ in take_steps(model, start, stepper, [dt] * steps))])
