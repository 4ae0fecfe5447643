"""Bonds: springs between pairs of points that only pull, whose lengths and lives change in time.

    E = 1/2 k (|d| - g)^2 where |d| > g, else 0,   d = x_b - x_a

g changes from ``first`` to ``last`` between two times, smoothly (3 s^2 - 2 s^3), so bonds close the
gap of a seam at a given pace. With g = 0 the energy is 1/2 k |d|^2: a closed seam. A bond acts from
``begin`` until ``end``; a bond whose tension exceeds its ``strength`` at the end of a step tears,
and stays torn.

The kernels are those of ``point_springs``. The Hessian k [(1 - g/|d|) I + (g/|d|) n n^T] is never
indefinite where the bond pulls, so EXACT and PROJECTED are the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.base.errors import SceneError
from weft.base.trees import Json
from weft.discretization.mesh import TriangleMesh
from weft.energies.by_constants import ByName
from weft.energies.rest_mesh import RestMesh
from weft.energies.seams.elastic_bands import ElasticBand
from weft.energies.springs.distance import AttachedPoints
from weft.energies.springs.point_springs import CONVEX
from weft.energies.springs.spring import SpringEnergy, SteppedSpring
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import Scalar, WarpArray, WarpStruct, vec3
from weft.solve.sparse.block_csr import BlockPattern


@dataclass(frozen=True, eq=False)
class Bonds(SpringEnergy):
    """Springs between pairs of points that only pull.

    Args:
        pairs: (m,2) points.
        stiffness: (m,) [N/m].
        n_vertices: points of the cloth.
        first, last: (m,) [m] lengths below which a bond does not pull, before and after it closes.
        closing: (m,2) [s] between which it goes from the one to the other.
        life: (m,2) [s] from when, and until when it acts; torn ones do not act any more.
        strength: (m,) [N] at which it tears; infinite: never.
        name: of the energy.
        bands: bonds among them whose ``last`` and ``stiffness`` change in time.
        along: (m,) [m] cloth along each, to which its lengths are in proportion and its stiffness
            in inverse proportion (elastics); nan, and None: it does not depend on the cloth.

    Raises:
        SceneError: numbers that are not finite, negative stiffness or lengths, or times that run
            backwards.
    """

    pairs: Ints
    stiffness: Floats
    n_vertices: int
    first: Floats | float = 0.0
    last: Floats | float = 0.0
    closing: Floats | tuple[float, float] = (0.0, 0.0)
    life: Floats | tuple[float, float] = (0.0, np.inf)
    strength: Floats | float = np.inf
    name: str = "bonds"
    damping: float = 0.0
    bands: Sequence[ElasticBand] = ()
    along: Floats | None = field(default=None, compare=False)

    kernels = CONVEX
    is_elastic = True

    def __post_init__(self) -> None:
        m = len(self.pairs)
        shapes = {"stiffness": (m,), "first": (m,), "last": (m,), "closing": (m, 2)}
        shapes |= {"life": (m, 2), "strength": (m,)}
        for name, shape in shapes.items():
            given = np.broadcast_to(np.asarray(getattr(self, name), dtype=np.float64), shape)
            least = given.min(initial=0.0) if name not in ("closing", "life") else 0.0
            finite = name in ("life", "strength") or np.isfinite(given).all()
            if np.isnan(given).any() or least < 0 or not finite:
                expected = "must be >= 0" if least < 0 else "finite numbers"
                raise SceneError(f"{self.name}.{name}", got=given[:5].tolist(), expected=expected)
            object.__setattr__(self, name, np.array(given))
        for name in ("closing", "life"):
            begin, end = getattr(self, name).T
            if (end < begin).any():
                k = int(np.argmax(end < begin))
                got = f"{begin[k]:g} s to {end[k]:g} s"
                raise SceneError(
                    f"{self.name}.{name} {k}",
                    got=got,
                    expected="an end that is later than the beginning",
                )

    @property
    def stencil(self) -> Ints:
        """Points of each bond, (m,2)."""
        return self.pairs

    def recut(self, mesh: TriangleMesh, mass: Floats) -> "Bonds":
        """Return the bonds of panels with another cut, ``mesh``."""
        if self.along is None:
            return self
        now = np.where(np.isnan(self.along), np.nan, self.lengths_along(mesh))
        part = np.where(np.isnan(now), 1.0, now / self.along)
        first, last = (part * np.asarray(g) for g in (self.first, self.last))
        bands = [replace(b, full=part[b.rows] * b.full) for b in self.bands]
        return replace(
            self, stiffness=self.stiffness / part, first=first, last=last, bands=bands, along=now
        )

    def lengths_along(self, mesh: TriangleMesh) -> Floats:
        """Return the distance between the points of every pair in the material, (m,) [m]."""
        uv = np.zeros((mesh.n_vertices, 2))
        uv[mesh.faces.ravel()] = mesh.corner_uv.reshape(-1, 2)
        return np.asarray(np.linalg.norm(uv[self.pairs[:, 1]] - uv[self.pairs[:, 0]], axis=1))

    @property
    def changes(self) -> bool:
        """True if numbers of some bonds have keyframes."""
        return len(self.bands) > 0

    def stiffness_at(self, t: float) -> Floats:
        """Return the stiffness, (m,) [N/m], at time t [s]."""
        k = np.array(self.stiffness)
        for band in self.bands:
            k[band.rows] = band.stiffnesses(t)
        return k

    def lengths(self, t: float) -> Floats:
        """Return the lengths below which bonds do not pull, (m,) [m], at time t [s]."""
        begin, end = np.asarray(self.closing).T
        last = np.array(self.last)
        for band in self.bands:
            last[band.rows] = band.lengths(t)
        s = np.clip((t - begin) / np.maximum(end - begin, 1e-300), 0.0, 1.0)
        return np.asarray(self.first + (last - np.asarray(self.first)) * s * s * (3 - 2 * s))

    def acting(self, t: float) -> Bools:
        """Return whether bonds act at time t [s], unless torn, (m,)."""
        begin, end = np.asarray(self.life).T
        return np.asarray((begin <= t) & (t < end))

    def tension(self, x: Positions, t: float) -> Floats:
        """Return the tension at positions x (n,3) and time t [s], (m,) [N].

        Bonds that do not act have none.
        """
        return self.forces_along(x, self._at(t, np.zeros(len(self.pairs))))[:, 0]

    def parameters(self, step: Step | None = None) -> WarpStruct:
        """Return the parameters at the end of a step, without the bonds that have torn before it.

        Without a step all bonds act and are closed.
        """
        torn = np.zeros(len(self.pairs))
        if step is None:
            return self._at(self.end, torn)
        return self._at(step.t, np.asarray(step.memory.get(self.memory, torn)))

    def _at(self, t: float, torn: Floats) -> WarpStruct:
        """Return the parameters at time t [s]; ``torn`` (m,) is above 0 for torn bonds."""
        p = AttachedPoints()
        for name, values in self._vectors.items():
            setattr(p, name, values)
        p.law = self.records(
            stiffness=self.stiffness_at(t),
            length=self.lengths(t),
            pulls=1,
            holds=self.acting(t) & (torn == 0),
            slip=1.0,
        )
        return p

    @cached_property
    def _vectors(self) -> Mapping[str, WarpArray]:
        """The parameters that say that a bond is the vector from its first point to its second."""
        m = len(self.pairs)
        none = kernel.zeros(m, vec3)
        c = kernel.array(np.tile([-1.0, 1.0], (m, 1)), Scalar)
        return {"c": c, "place": none, "axis": none}

    @property
    def memory(self) -> str:
        """Name under which torn bonds are kept from step to step."""
        return f"{self.name} torn"

    @property
    def constants(self) -> ByName:
        """Constants by name: stiffness [N/m], and lengths [m] before and after closing."""
        return {name: np.asarray(getattr(self, name)) for name in ("stiffness", "first", "last")}

    @property
    def structure(self) -> object:
        """Data besides the constants: the pairs, and when they act.

        Strength is not part of it, because the result jumps when a bond tears.
        """
        return self.pairs, self.closing, self.life, self.bands, self.n_vertices

    def contract(self, x: Positions, by: Floats, step: Step | None = None) -> ByName:
        """Return d(by . gradient)/dc by constant, (m,), for ``by`` (m,2,3)."""
        begin, done = np.asarray(self.closing).T
        t, p = self.end if step is None else step.t, self.track(self.parameters(step))
        s = np.clip((t - begin) / np.maximum(done - begin, 1e-300), 0.0, 1.0)
        self.pull_back_gradient(x, by, p)
        law, part = self.derivatives(p), s * s * (3 - 2 * s)
        lengths = {"first": (1 - part) * law["length"], "last": part * law["length"]}
        return {"stiffness": law["stiffness"], **lengths}

    @property
    def end(self) -> float:
        """Time [s] from which all bonds act and are closed."""
        begin = np.asarray(self.life)[:, 0].max(initial=0.0)
        return max(float(begin), float(np.asarray(self.closing).max(initial=0.0)))

    def bind(self, pattern: BlockPattern) -> "BondsTerm":
        """Return the term for simulations, bound to the block pattern of a matrix."""
        return BondsTerm(self, pattern)

    def close_earlier(self, pairs: Ints) -> "Bonds | None":
        """Return the bonds, of which some begin to close when their life begins, at their pace.

        Args:
            pairs: (k,2) points of these bonds.

        Returns:
            None if they begin to close then already.
        """
        size = np.array([self.n_vertices, 1], dtype=np.int64)
        closing, begin = np.asarray(self.closing), np.asarray(self.life)[:, :1]
        late = np.isin(self.pairs @ size, pairs @ size)[:, None] & (closing[:, :1] > begin)
        if not late.any():
            return None
        return replace(self, closing=np.where(late, closing - closing[:, :1] + begin, closing))

    @staticmethod
    def concatenate(several: "Sequence[Bonds]", name: str) -> "Bonds":
        """Return several sets of bonds as one energy."""
        rows = ("pairs", "stiffness", "first", "last", "closing", "life", "strength")
        arrays: Json = {k: np.concatenate([getattr(b, k) for b in several]) for k in rows}
        starts = np.cumsum([0, *(len(b.pairs) for b in several)])
        bands = [replace(d, rows=d.rows + s) for s, b in zip(starts, several) for d in b.bands]
        made = [np.full(len(b.pairs), np.nan) if b.along is None else b.along for b in several]
        along = None if all(b.along is None for b in several) else np.concatenate(made)
        n = several[0].n_vertices
        return Bonds(**arrays, n_vertices=n, name=name, bands=bands, along=along)


class BondsTerm(SteppedSpring):
    """Bonds bound to a block pattern, at the end of a step."""

    energy: Bonds
    remembers_jumps = True

    def __init__(self, energy: Bonds, pattern: BlockPattern) -> None:
        super().__init__(energy, pattern)
        self._tears = bool(np.isfinite(energy.strength).any())
        self._torn = np.zeros(len(energy.pairs), dtype=bool)
        self._t = 0.0

    def freeze(self, step: Step) -> None:
        """Take lengths and lives at the end of the step, and the bonds that have torn before it."""
        super().freeze(step)
        self._t = step.t
        self._torn = np.asarray(step.memory.get(self.energy.memory, np.zeros(self.shape[0]))) > 0

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add nothing: the time and which bonds have torn have no derivative."""

    def zero_tables(self) -> dict[str, Floats]:
        """Return zeros for the lengths of cloth along bonds."""
        return {} if self.energy.along is None else {"along": np.zeros(self.shape[0])}

    def by_tables(self, step: Step, x: WarpArray, by: Floats, at: Positions | None) -> ByName:
        """Return the derivatives of s by the lengths of cloth along bonds.

        Rest lengths are proportional to them, and stiffness is inversely proportional.
        """
        e, law, p = self.energy, self.law_numbers, self.energy.track(self.parameters)
        if e.along is None:
            return {}
        e.pull_back_gradient(x, by[e.pairs], p)
        found, depends = e.derivatives(p), ~np.isnan(e.along)
        by_log = found["length"] * law["length"] - found["stiffness"] * law["stiffness"]
        return {"along": np.where(depends, by_log / np.where(depends, e.along, 1.0), 0.0)}

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the rest shape, from those by lengths along bonds."""
        known = ~np.isnan(np.asarray(self.energy.along))
        return rest.by_lengths(self.energy.pairs, np.where(known, by["along"], 0.0))

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return which bonds have torn, if any may tear."""
        if not self._tears:
            return {}
        pull = self.energy.forces_along(x, self.parameters)[:, 0]
        torn = self._torn | (pull > np.asarray(self.energy.strength))
        return {self.energy.memory: torn.astype(np.float64)}
