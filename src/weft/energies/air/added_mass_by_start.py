"""Derivatives of added mass by the start of a step, from which it takes M, flow and normals.

s = by . [M (x - y)/scale + load], with M and load at the expected positions x^ and velocities v^ of
the cloth. Each face has its part of both, which depends on its own three vertices only. Therefore
one coordinate of all faces is moved at a time, in central differences of fourth order.
"""

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from weft import kernel
from weft.base.arrays import Floats
from weft.discretization.mesh import unique_edges
from weft.energies.air.expected_motion import extrapolate, pull_back_extrapolated
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import WarpArray

if TYPE_CHECKING:
    from weft.energies.air.added_mass import AddedMass, BoundAddedMass

DIFFERENCE = 1e-3  # step relative to a face's size, and to the speeds of air and cloth


def pull_back_added_mass(
    term: "BoundAddedMass", step: Step, x: WarpArray, by: Floats, into: StepCotangents
) -> None:
    """Add the derivatives by the prediction, and by expected positions and velocities."""
    M = np.array(kernel.numpy(term.air.M))
    into.predicted -= np.einsum("vij,vj->vi", M, by)
    place_x, place_v = extrapolate(step) if into.at is None else (into.at, step.velocity(into.at))
    faces, alone = term.energy.mesh.faces, apart(term.energy)
    corners, speeds = place_x[faces], place_v[faces]
    assert step.scale is not None
    off = (np.array(kernel.numpy(x)) - step.predicted)[faces].reshape(-1, 3) / step.scale
    along = by[faces].reshape(-1, 3)

    def part(at: Floats, v: Floats) -> Floats:
        M, load = alone.load(at.reshape(-1, 3), v.reshape(-1, 3), step.t)
        s = (along * (np.einsum("vij,vj->vi", M, off) + load)).sum(1)
        return np.asarray(s.reshape(-1, 3).sum(1))

    size = np.abs(corners - corners[:, :1]).max(axis=(1, 2))
    air = float(np.linalg.norm(term.energy.wind.velocity)) + float(np.abs(speeds).max())
    to_x, to_v = np.zeros_like(place_x), np.zeros_like(place_v)
    for a in range(3):
        for j in range(3):
            slope = _slope(part, corners, speeds, (a, j), DIFFERENCE * size, True)
            np.add.at(to_x[:, j], faces[:, a], slope)
            fast = np.full(len(faces), DIFFERENCE * max(air, 1e-3))
            slope = _slope(part, corners, speeds, (a, j), fast, False)
            np.add.at(to_v[:, j], faces[:, a], slope)
    pull_back_extrapolated(step, to_x, to_v, into)


def apart(energy: "AddedMass") -> "AddedMass":
    """Return the same energy with separate vertices for every face; the rim is that of the mesh."""
    s, (edges, outward) = energy.samples, energy.rim
    m = len(s.stencil)
    own = np.arange(3 * m, dtype=np.int32).reshape(m, 3)
    _, edge = unique_edges(energy.mesh.faces)
    face = np.flatnonzero(np.bincount(edge)[edge] == 1) // 3
    out = type(energy)(energy.mesh, energy.wind, energy.name)
    rim = dataclasses.replace(edges, stencil=own[face], n_vertices=3 * m)
    vars(out).update(
        samples=dataclasses.replace(s, stencil=own, n_vertices=3 * m), rim=(rim, outward)
    )
    return out


Part = Callable[[Floats, Floats], Floats]


def _slope(
    part: Part, x: Floats, v: Floats, which: tuple[int, int], h: Floats, moves: bool
) -> Floats:
    """Return (m,) derivatives of every face's part by a coordinate of one corner, or its speed."""
    a, j = which
    total = np.zeros(len(x))
    for k, weight in ((1, 8), (-1, -8), (2, -1), (-2, 1)):
        ways = [np.array(x), np.array(v)]
        ways[0 if moves else 1][:, a, j] += k * h
        total += weight / (12 * h) * part(*ways)
    return total
