"""Rings on a pole that is part of a rigid body: ring and pole exert forces on one another.

The pole's points are combinations of the body's four points, and so is the point at the part xi of
a segment. E = phi(r), with r = |d| the distance of a ring from the nearest place of the pole; it is
minimal in xi. So, with d = sum_a c_a x_a at that xi, q the segment, L its length, t its direction,
n = d/r, and c' = dc/dxi,

    dE/dx_a = phi' c_a n
    d2E/dx_a dx_b = c_a c_b [phi'' n n^T + phi'/r (I - n n^T - t t^T)]
        + phi'/(r L) (c_a c'_b t d^T + c'_a c_b d t^T) - phi'/(r L^2) c'_a c'_b d d^T

and without t and c' at corners and ends. A ring's place along the pole is s = s_0 + xi ds with
dxi_a = (c_a q - c'_a d)/L^2, and its second derivative follows from xi = (A - r_0).q/q.q. Friction
is that of ``point_springs``: lagged, with roots. NumPy is used because rings are few.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from weft import kernel
from weft.base.arrays import Floats, Ints, Positions
from weft.energies.by_constants import ByName, repeat_per_element
from weft.energies.element_energy import damping_of
from weft.energies.numpy_energy import NumpyEnergy
from weft.energies.springs.point_springs import FARTHEST, NOWHERE
from weft.energies.springs.rail import feet_on
from weft.energies.springs.release import NEVER, Held, Release
from weft.energies.step import Step
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockPattern

TINY = 1e-12  # [m] distance below which a ring counts as on the pole's line


@dataclass(frozen=True, eq=False)
class RigidRings:
    """An attachment of m rings. Local arrays are those of the start, without friction.

    Args:
        ring: (m,k) points that move each ring.
        c: (m,k) their weights; they sum to one.
        body: (4,) points of the body.
        nodes: (p,4) weights with which they make the points of the pole.
        along: (p,) [m] lengths along it.
        stiffness: (m,) [N/m].
        name: of the energy, and in metrics.
        radius: [m] distance that rings keep.
        friction: coefficient on the pole.
        slip: [m] over which friction rises.
        release: when rings let go.
    """

    ring: Ints
    c: Floats
    body: Ints
    nodes: Floats
    along: Floats
    stiffness: Floats
    name: str = "rings"
    radius: float = 0.0
    friction: float = 0.0
    slip: float = 1e-4
    release: Release = NEVER

    def __len__(self) -> int:
        return len(self.ring)

    @property
    def stencil(self) -> Ints:
        """Points of each ring and of the body, (m,k+4)."""
        own = np.broadcast_to(self.body, (len(self), 4)).astype(np.int32)
        return np.concatenate([self.ring, own], axis=1)

    @property
    def start(self) -> "FrozenRings":
        """The rings at t = 0."""
        zero = np.zeros(len(self))
        return FrozenRings(self, self.stiffness, zero + NOWHERE[0], zero + NOWHERE[1], zero, zero)

    def value(self, x: Positions) -> Floats:
        """Return the energies, (m,) [J], at the start."""
        return self.start.value(x)

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (m,k+4,3) [N]."""
        return self.start.gradient(x)

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (m,k+4,k+4,3,3) [N/m]."""
        return self.start.hessian(x, psd)

    def at_end(self, step: Step) -> "FrozenRings":
        """Return the rings at the end of a step, with the step's memory."""
        released = step.kept.get(f"{self.name} released", np.full(len(self), np.inf))
        holds = np.isinf(released) & (not self.release.expired(step.t))
        x = np.asarray(step.state.x)
        began = replace(self.start, stiffness=np.where(holds, self.stiffness, 0.0))
        found = began.found(x)
        reach = FARTHEST * step.dt + float(np.diff(self.along).max())
        frozen = replace(began, low=found.s - reach, high=found.s + reach)
        if self.friction > 0 and np.isfinite(step.span):
            root = np.asarray(step.kept.get(f"{self.name} root", found.s))
            press = np.abs(frozen.found(x).tension)
            frozen = replace(frozen, root=root, rub=self.friction * press)
        return frozen

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness [N/m], radius [m], and friction with its slip [m]."""
        names = ("radius", "friction", "slip")
        shared = {name: repeat_per_element(getattr(self, name), len(self)) for name in names}
        return {"stiffness": self.stiffness, **shared}

    @property
    def structure(self) -> Any:
        """Data besides the constants: the rings and their pole, without the forces of release."""
        return self.ring, self.c, self.body, self.nodes, self.along, self.release.at

    def mixed(self, x: Positions, step: Step | None = None) -> ByName:
        """Return d gradient/dc by constant, (m,K,3).

        Forces are proportional to the stiffness, and linear in the radius and in the coefficient of
        friction as long as the normal force keeps its sign.
        """

        def forces(**other: Any) -> Floats:
            rings = replace(self, **other)
            return (rings.start if step is None else rings.at_end(step)).gradient(x)

        frozen = self.start if step is None else self.at_end(step)
        f = frozen.found(x)
        push = np.einsum("m,ma,mi->mai", frozen.stiffness, f.c, f.n)
        began = f if step is None else frozen.found(step.state.x)
        _, drag, _ = replace(frozen, rub=np.ones(len(self)))._rub(f.s)
        rub = self.friction * np.sign(began.tension) * frozen.stiffness * drag
        rub = rub if frozen.rub.any() else np.zeros(len(self))
        y = (f.s - frozen.root) / self.slip
        soft = np.where(np.abs(y) < 1, -2 * frozen.rub * (1 - np.abs(y)) * y / self.slip, 0.0)
        return {
            "stiffness": forces(stiffness=np.ones(len(self))),
            "radius": -push - rub[:, None, None] * _slide(f),
            "friction": forces(friction=1.0) - forces(friction=0.0),
            "slip": soft[:, None, None] * _slide(f),
        }

    def bind(self, pattern: BlockPattern) -> "BoundRings":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return BoundRings(self, pattern)


@dataclass(frozen=True, eq=False)
class RingContacts:
    """Places of rings on their pole, and the forces there."""

    place: Positions  # (m,3) [m] of the rings
    d: Floats  # (m,3) [m] from the pole
    n: Floats  # (m,3)
    t: Floats  # (m,3) along the segment; zero at corners and ends
    s: Floats  # (m,) [m] along the pole
    size: Floats  # (m,) [m] length of the segment
    step: Floats  # (m,) [m] length of the segment at the start
    c: Floats  # (m,K) weights of the points in d
    slope: Floats  # (m,K) dc/dxi; zero at corners and ends
    tension: Floats  # (m,) [N] phi'
    over: Floats  # (m,) [N/m] phi'/r


@dataclass(frozen=True, eq=False)
class FrozenRings:
    """Rings in one step."""

    rings: RigidRings
    stiffness: Floats  # (m,) zero for released rings
    low: Floats  # (m,) [m] along the pole, range in which feet are searched
    high: Floats  # (m,)
    rub: Floats  # (m,) [N] largest friction
    root: Floats  # (m,) [m] along the pole, from which slip is measured

    @property
    def name(self) -> str:
        """Name of the energy."""
        return self.rings.name

    @property
    def stencil(self) -> Ints:
        """Points of each ring and of the body, (m,K)."""
        return self.rings.stencil

    def found(self, x: Positions) -> RingContacts:
        """Return the places and forces of the rings at positions x (n,3)."""
        o, x = self.rings, np.asarray(x)
        A = np.einsum("ma,mai->mi", o.c, x[o.ring])
        rail = o.nodes @ x[o.body]
        feet = feet_on(A, rail, o.along, self.low, self.high)
        k = np.clip(np.searchsorted(o.along, feet.s, "right") - 1, 0, len(o.along) - 2)
        step, q = np.diff(o.along)[k], (rail[1:] - rail[:-1])[k]
        part = ((feet.s - o.along[k]) / step)[:, None]
        between = (o.nodes[1:] - o.nodes[:-1])[k]
        inside = (np.abs(feet.t).max(axis=1) > 0)[:, None]
        c = np.concatenate([o.c, -(o.nodes[k] + part * between)], axis=1)
        slope = np.concatenate([0 * o.c, np.where(inside, -between, 0.0)], axis=1)
        d = A - feet.place
        r = np.linalg.norm(d, axis=1)
        apart = r > TINY
        n = np.where(apart[:, None], d / np.where(apart, r, 1.0)[:, None], 0.0)
        tension = self.stiffness * (r - o.radius)
        over = np.where(apart, tension / np.where(apart, r, 1.0), 0.0)
        over = self.stiffness if o.radius == 0 else over
        size = np.linalg.norm(q, axis=1)
        return RingContacts(A, d, n, feet.t, feet.s, size, step, c, slope, tension, over)

    def parts(self, x: Positions) -> tuple[Floats, Floats]:
        """Return the elastic energy and that of friction, (m,) [J] each."""
        f = self.found(x)
        e = np.linalg.norm(f.d, axis=1) - self.rings.radius
        rubbed, _, _ = self._rub(f.s)
        return 0.5 * self.stiffness * e * e, rubbed

    def value(self, x: Positions) -> Floats:
        """Return the energies, (m,) [J]."""
        elastic, rubbed = self.parts(x)
        return elastic + rubbed

    def gradient(self, x: Positions) -> Floats:
        """Return the local gradients, (m,K,3) [N]."""
        f = self.found(x)
        _, drag, _ = self._rub(f.s)
        push = np.einsum("m,ma,mi->mai", f.tension, f.c, f.n)
        return np.asarray(push + drag[:, None, None] * _slide(f))

    def hessian(self, x: Positions, psd: Psd = Psd.EXACT) -> Floats:
        """Return the local Hessians, (m,K,K,3,3) [N/m]; only EXACT is implemented."""
        if psd is not Psd.EXACT:
            raise NotImplementedError
        f = self.found(x)
        nn, tt = (np.einsum("mi,mj->mij", v, v) for v in (f.n, f.t))
        K = (self.stiffness - f.over)[:, None, None] * nn
        K = K + f.over[:, None, None] * (np.eye(3) - tt)
        H = np.einsum("ma,mb,mij->mabij", f.c, f.c, K)
        turn = np.einsum("m,ma,mb,mi,mj->mabij", f.over / f.size, f.c, f.slope, f.t, f.d)
        H = H + turn + turn.transpose(0, 2, 1, 4, 3)
        back = f.over / f.size**2
        H = H - np.einsum("m,ma,mb,mi,mj->mabij", back, f.slope, f.slope, f.d, f.d)
        _, drag, stiff = self._rub(f.s)
        ds = _slide(f)
        H = H + np.einsum("m,mai,mbj->mabij", stiff, ds, ds)
        return np.asarray(H + drag[:, None, None, None, None] * _slide_again(f, ds))

    def _rub(self, s: Floats) -> tuple[Floats, Floats, Floats]:
        """Return D, D' and D'' of friction, as in ``point_spring_kernels``."""
        u, slip = s - self.root, self.rings.slip
        y, F, sign = np.abs(u) / slip, self.rub, np.sign(u)
        soft = y < 1
        value = np.where(soft, F * slip * y * y * (1 - y / 3), F * (np.abs(u) - slip / 3))
        slope = np.where(soft, F * y * (2 - y), F) * sign
        return value, slope, np.where(soft, F * (2 - 2 * y) / slip, 0.0)


def _slide(f: RingContacts) -> Floats:
    """Return ds/dx_a, (m,K,3)."""
    along = f.c[:, :, None] * (f.step / f.size)[:, None, None] * f.t[:, None]
    return np.asarray(
        along - f.slope[:, :, None] * (f.step / f.size**2)[:, None, None] * f.d[:, None]
    )


def _slide_again(f: RingContacts, ds: Floats) -> Floats:
    """Return d2s/dx_a dx_b, (m,K,K,3,3).

    It is that of xi = N/q.q, with dN bilinear, and d(q.q)_a = -2 c'_a q.
    """
    scale = (f.step / f.size**2)[:, None, None, None, None]
    both = np.einsum("ma,mb->mab", f.c, f.slope)
    twice = np.einsum("mab,ij->mabij", both + both.transpose(0, 2, 1), np.eye(3))
    q = f.size[:, None] * f.t
    grown = (
        np.einsum("mai,mb,mj->mabij", ds, -2 * f.slope, q) / (f.size**2)[:, None, None, None, None]
    )
    inside = (np.abs(f.t).max(axis=1) > 0)[:, None, None, None, None]
    found = -scale * twice - grown - grown.transpose(0, 2, 1, 4, 3)
    return np.asarray(np.where(inside, found, 0.0))


class BoundRings(NumpyEnergy):
    """Rings bound to a block pattern."""

    energy: FrozenRings

    def __init__(self, rings: RigidRings, pattern: BlockPattern) -> None:
        super().__init__(rings.start, pattern, quiet=True)
        self.rings, self._t, self._span = rings, 0.0, np.inf
        self._released = np.full(len(rings), np.inf)

    def update_constants(self, rings: RigidRings) -> None:
        """Take radius, friction, stiffness and release of other rings."""
        self.rings = rings

    def freeze(self, step: Step) -> None:
        """Take the rings that hold in the step, and the part of the pole to search feet on."""
        self._t, self._span = step.t, step.span
        kept = step.kept.get(f"{self.name} released")
        self._released = np.full(len(self.rings), np.inf) if kept is None else np.asarray(kept)
        self.energy = self.rings.at_end(step)

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """Return the elastic energy [J], and that of friction if there is any, by name."""
        elastic, rubbed = self.energy.parts(self._host(x))
        if self.rings.friction == 0:
            return {self.name: float(elastic.sum())}
        return {self.name: float(elastic.sum()), damping_of(self.name): float(rubbed.sum())}

    def lag(self, x: WarpArray) -> bool:
        """Evaluate the forces with which rings press on the pole again, at x."""
        if self.rings.friction == 0 or not np.isfinite(self._span):
            return False
        press = np.abs(self.energy.found(self._host(x)).tension)
        self.energy = replace(self.energy, rub=self.rings.friction * press)
        return True

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return release times and roots of bristles, as far as the rings have these."""
        kept = dict[str, Floats]()
        if self.rings.release.depends:
            kept[f"{self.name} released"] = self._after(x)
        if self.rings.friction > 0:
            s, u = self.energy.found(self._host(x)).s, self.rings.slip
            kept[f"{self.name} root"] = np.clip(self.energy.root, s - u, s + u)
        return kept

    def forces(self, x: WarpArray) -> Mapping[str, Any]:
        """Return the force on the cloth, the number of rings that hold, and release, by name."""
        pull, after = self._pull(x), self._after(x)
        holds = np.isinf(after) & (not self.rings.release.expired(self._t))
        size = np.linalg.norm(pull, axis=1)
        said: dict[str, Any] = {
            "force": pull.sum(axis=0).tolist(),
            "largest": float(size.max(initial=0.0)),
            "holds": int(holds.sum()),
        }
        if not holds.all():
            gone = after[np.isfinite(after)]
            said["released"] = float(gone.max()) if len(gone) else self.rings.release.at
        return {self.name: said}

    def _pull(self, x: WarpArray) -> Floats:
        """Return the force on every ring, the sum over its points, (m,3) [N]."""
        g = self.energy.gradient(np.array(kernel.numpy(x)))
        return np.asarray(-g[:, : self.rings.ring.shape[1]].sum(axis=1))

    def _after(self, x: WarpArray) -> Floats:
        """Return release times at the end of the step, (m,) [s]; infinite for rings that hold."""
        release = self.rings.release
        if not release.depends:
            return self._released
        holds = np.isinf(self._released) & (not release.expired(self._t))
        force = np.where(holds, np.linalg.norm(self._pull(x), axis=1), 0.0)
        place = self.energy.found(self._host(x)).place
        go = release.released_points(Held(self._t, place, force, holds))
        return np.where(go, self._t, self._released)
