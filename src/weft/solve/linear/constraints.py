"""Velocity constraints of particles (Baraff & Witkin 1998, section 5).

The filter S projects onto the free directions of each vertex, and z is the prescribed change of
velocity in the others. A constraint from contact is one-sided: if its impulse pulls, it is released
and the system is solved again.

The modified conjugate gradients of the paper are ordinary conjugate gradients on S A S in the range
of S, preconditioned by S P^-1 S. The filter is therefore applied to the matrix once, and every
linear solver of weft can be used. The residual A dv - b in the constrained directions is the
impulse of the constraints.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Velocities
from weft.base.errors import SolverError
from weft.base.runtime_types import checked
from weft.kernel import IntArray, Mat33Array, mat33, vec3
from weft.solve.linear.solver import LinearSolution, LinearSolver, PreparedSolver
from weft.solve.sparse.block_csr import BlockCsr

_module = wp.get_module("weft.constraints")
SAME = 1e-9  # relative difference up to which two prescribed changes agree
DEPENDENT = 1e-6  # length of a unit direction's free part below which it is already constrained
MOST_RELEASES = 10  # rounds of releasing constraints that pull, in one step


@wp.kernel(module=_module)
def filter_rows(
    o: int,
    row_start: IntArray,
    column: IntArray,
    held: IntArray,
    S: Mat33Array,
    values: Mat33Array,
    out: Mat33Array,
):
    """Compute S A S + (I - S); the second term makes the matrix invertible.

    ``held[v]`` is the index in S of a vertex that is not free, else -1.
    """
    v = o + wp.tid()
    i = held[v]
    for b in range(row_start[v], row_start[v + 1]):
        block = values[b]
        j = held[column[b]]
        if j >= 0:
            block = block * S[j]
        if i >= 0:
            block = S[i] * block
            if column[b] == v:
                block += wp.identity(n=3, dtype=wp.float64) - S[i]
        out[b] = block


@checked(SolverError, "constraint", unchecked=("of",))
@dataclass(frozen=True, eq=False)
class Constraint:
    """Prescribed velocity changes of vertices along one to three directions.

    Raises:
        SolverError: more than three directions, or directions that are not independent.
    """

    vertices: Ints  # (k,)
    directions: Floats  # (d,3), d from 1 to 3; need not be orthonormal
    change: Velocities  # (k,3) [m/s]; only the components along the directions are used
    one_sided: bool = False  # may push along directions[0] only; released if it pulls

    def __post_init__(self) -> None:
        rows = np.atleast_2d(np.asarray(self.directions, dtype=np.float64))
        ids = np.asarray(self.vertices, dtype=np.int32).reshape(-1)
        if rows.shape[1:] != (3,) or not 1 <= np.linalg.matrix_rank(rows) == len(rows):
            raise SolverError(
                "constraint directions", got=rows.tolist(), expected="1 to 3 independent directions"
            )
        object.__setattr__(self, "directions", _orthonormal(rows))
        object.__setattr__(self, "vertices", ids)
        change = np.broadcast_to(np.asarray(self.change, dtype=np.float64), (len(ids), 3))
        object.__setattr__(self, "change", change)

    @property
    def normal(self) -> Floats:
        """Return the first direction (3,), along which a one-sided constraint may push."""
        return np.asarray(self.directions[0])

    def of(self, which: Bools) -> "Constraint":
        """Return the constraint of a subset of its vertices.

        Args:
            which: (k,) mask of the vertices.
        """
        return dataclasses.replace(self, vertices=self.vertices[which], change=self.change[which])


def _orthonormal(rows: Floats) -> Floats:
    """Return orthonormal rows with the same span; the first row keeps its direction."""
    q, r = np.linalg.qr(rows.T)
    return (q * np.sign(np.diag(r))).T


@dataclass(frozen=True, eq=False)
class Filter:
    """Constraints of all vertices in one step: the projection S and the prescribed change z."""

    S: Floats  # (n,3,3) projection onto the free directions
    z: Velocities  # (n,3) [m/s] prescribed change of velocity, zero in free directions

    @staticmethod
    def of(n: int, constraints: Sequence[Constraint]) -> "Filter":
        """Build the filter of n vertices from their constraints.

        Raises:
            SolverError: two constraints that prescribe different changes along one direction.
        """
        S, z = np.broadcast_to(np.eye(3), (n, 3, 3)).copy(), np.zeros((n, 3))
        for c in constraints:
            ids, change = c.vertices, c.change
            # Shortcut: vertices without earlier constraints lose all three directions at once.
            if len(c.directions) == 3:
                fresh = np.array([(S[i] == np.eye(3)).all() for i in ids.tolist()], dtype=bool)
                S[ids[fresh]], z[ids[fresh]] = 0.0, change[fresh]
                ids, change = ids[~fresh], change[~fresh]
            for i, wanted in zip(ids.tolist(), change):
                for direction in c.directions:
                    _hold(i, S, z, direction, float(direction @ wanted))
        return Filter(S, z)

    @cached_property
    def held(self) -> Ints:
        """Return the indices of vertices that are not free in all directions."""
        return np.flatnonzero((np.eye(3) != self.S).any(axis=(1, 2))).astype(np.int32)

    def apply(self, a: Velocities) -> Velocities:
        """Return S a for a of shape (n,3)."""
        out = np.array(a)
        out[self.held] = np.einsum("nij,nj->ni", self.S[self.held], a[self.held])
        return out

    def matrix(self, A: BlockCsr, out: BlockCsr) -> None:
        """Write S A S + (I - S) into ``out``, a matrix on the pattern of A."""
        p = A.pattern
        rows = (p.device_row_start, p.device_column)
        place = np.full(p.n, -1, dtype=np.int32)
        place[self.held] = np.arange(len(self.held))
        S = kernel.array(self.S[self.held], mat33)
        held = kernel.array(place, wp.int32)
        kernel.launch(filter_rows, p.n, *rows, held, S, A.values, out.values)


def _hold(i: int, S: Floats, z: Velocities, direction: Floats, wanted: float) -> None:
    """Remove a direction of vertex i from S, and add its prescribed change to z."""
    free = S[i] @ direction
    length, has = float(np.linalg.norm(free)), float(direction @ z[i])
    if length < DEPENDENT:
        if abs(wanted - has) > SAME * max(abs(wanted), abs(has), 1.0):
            raise SolverError(
                f"constraints of vertex {i}",
                got=f"changes {has:.6g} and {wanted:.6g} m/s",
                expected="one value along each direction",
                hint=f"direction {direction.round(3).tolist()} is held twice",
            )
        return
    unit = free / length
    z[i] += (wanted - has) / length * unit
    S[i] -= np.outer(unit, unit)


@dataclass(frozen=True, eq=False)
class ConstrainedSolution:
    """Solution dv of S (A dv - b) = 0 and (I - S) dv = z."""

    change: Velocities  # (n,3) [m/s]
    impulse: Floats  # (n,3) [N s] impulse of the constraints, A dv - b; zero in free directions
    linear: LinearSolution
    prepared: PreparedSolver
    released: int = 0  # number of vertices whose one-sided constraint was released


@dataclass(frozen=True, eq=False)
class _Rows:
    """Block rows of a symmetric matrix at some vertices.

    These rows suffice for a product with a vector that is zero at all other vertices, and for a
    product that is only needed at these vertices.
    """

    row: Ints  # (k,) vertex of each block
    column: Ints  # (k,)
    block: Floats  # (k,3,3)

    @staticmethod
    def of(A: BlockCsr, vertices: Ints) -> "_Rows":
        """Copy the rows of these vertices from a matrix on the device."""
        p = A.pattern
        count = np.diff(p.row_start)[vertices]
        within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        which = np.repeat(p.row_start[vertices], count) + within
        blocks = kernel.numpy(A.values)[which]
        return _Rows(np.repeat(vertices, count), p.column[which], blocks)

    def times(self, x: Floats) -> Floats:
        """Return A x at the vertices, zero elsewhere."""
        out = np.zeros_like(x)
        np.add.at(out, self.row, np.einsum("kij,kj->ki", self.block, x[self.column]))
        return out

    def times_transposed(self, x: Floats) -> Floats:
        """Return A x for an x that is zero at all other vertices."""
        out = np.zeros_like(x)
        np.add.at(out, self.column, np.einsum("kji,kj->ki", self.block, x[self.row]))
        return out


def solve_constrained(
    A: BlockCsr,
    b: Floats,
    filter_: Filter,
    work: BlockCsr,
    solver: LinearSolver,
    tolerance: float,
    previous: PreparedSolver | None = None,
) -> ConstrainedSolution:
    """Solve A dv = b in the free directions, with dv = z in the constrained ones.

    Args:
        A: (n,n) blocks, symmetric.
        b: (n,3) [N s] right-hand side.
        filter_: the constraints.
        work: a matrix on A's pattern; overwritten.
        solver: linear solver of the filtered system.
        tolerance: relative error of an iterative solver.
        previous: prepared matrix of the last solve on this pattern; None: none.

    Returns:
        The change of velocity and the impulses of the constraints. A failed linear solve is
        reported in ``linear.outcome``.
    """
    filter_.matrix(A, work)
    rows = _Rows.of(A, filter_.held)
    rhs = filter_.apply(b - rows.times_transposed(filter_.z))
    prepared = solver.prepare(work, previous)
    solution = prepared.solve(kernel.array(rhs, vec3), tolerance)
    change = filter_.z + filter_.apply(np.array(kernel.numpy(solution.x)))
    rest = np.zeros_like(change)
    rest[filter_.held] = (rows.times(change) - b)[filter_.held]
    impulse = rest - filter_.apply(rest)
    return ConstrainedSolution(change, impulse, solution, prepared)


def solve_releasing(
    A: BlockCsr,
    b: Floats,
    constraints: Sequence[Constraint],
    work: BlockCsr,
    solver: LinearSolver,
    tolerance: float,
    previous: PreparedSolver | None = None,
) -> ConstrainedSolution:
    """Solve as ``solve_constrained``, and release one-sided constraints whose impulse pulls.

    The release is repeated in at most ``MOST_RELEASES`` rounds. Impulses below ``tolerance`` times
    the largest one count as zero. ``released`` of the solution is the number of released vertices.
    """
    held, released = list(constraints), 0
    for _ in range(MOST_RELEASES):
        filter_ = Filter.of(A.n, held)
        solution = solve_constrained(A, b, filter_, work, solver, tolerance, previous)
        previous = solution.prepared
        kept, dropped = _without_pulling(held, solution.impulse, tolerance)
        if not solution.linear.outcome.ok or dropped == 0:
            break
        held, released = kept, released + dropped
    return dataclasses.replace(solution, released=released)


def _without_pulling(
    held: Sequence[Constraint], impulse: Floats, tolerance: float
) -> tuple[list[Constraint], int]:
    """Return the constraints without vertices that are pulled, and the number of such vertices."""
    kept, dropped = [], 0
    largest = float(np.abs(impulse).max(initial=0.0))
    for c in held:
        push = impulse[c.vertices] @ c.normal
        stays = (push >= -tolerance * largest) if c.one_sided else np.ones(len(push), dtype=bool)
        dropped += int((~stays).sum())
        if stays.any():
            kept.append(c.of(stays))
    return kept, dropped
