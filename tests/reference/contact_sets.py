"""Contact sets and tables of friction that tests write down."""

import numpy as np
import warp as wp

from weft import kernel
from weft.contact.barrier.barrier import PARALLEL_PART, BarrierParameters
from weft.contact.broad_phase.candidates import Candidates
from weft.contact.ccd.conservative_advancement import max_step
from weft.contact.contact_set import ContactSet
from weft.contact.distance.distance import distances_of
from weft.contact.friction.law import friction_coefficients


def contact_set(stencil, kind, stiffness, gap, thickness=0.0, parallel=0.0):
    """Return a contact set of pairs (m,4) of kinds (m,), with numbers for all or (m,) each."""
    barrier = {"stiffness": stiffness, "thickness": thickness, "gap": gap, "parallel": parallel}
    touch = kernel.records(BarrierParameters, len(stencil), kind=kind, **barrier)
    pairs = kernel.array(np.ascontiguousarray(stencil, dtype=np.int32), wp.int32)
    return ContactSet((pairs, kernel.array(touch, BarrierParameters)))


def candidates_of(stencil, points):
    """Return candidates: pairs (m,4), of which the first ``points`` are a vertex and a face."""
    return Candidates(kernel.array(np.asarray(stencil, np.int32), wp.int32), points)


def step_lengths(x, dx, candidates, kept=None):
    """Return the part of dx (n,3) [m] that each candidate pair alone may go, (m,)."""
    each = enumerate(candidates.pairs[:, None])
    return np.array(
        [max_step(x, dx, candidates_of(p, int(k < candidates.points)), kept) for k, p in each]
    )


def distances(contacts, x):
    """Return the distance of each pair of a set at x (n,3) [m], (m,)."""
    return distances_of(x, contacts.stencil, contacts.parameters["kind"])


def energies(contacts, x):
    """Return the barrier energy of each pair of a set at x (n,3) [m], (m,) [J]."""
    return np.array(kernel.numpy(contacts.energies(kernel.points(x))))


def parallel_threshold(X, edge_edge):
    """Return |e x f|^2 [m^4] below which edges (e,4) count as nearly parallel at rest X (n,3):
    1e-3 times the product of their squared rest lengths (Li et al. 2020).
    """
    a, b, c, d = (X[edge_edge[:, i]] for i in range(4))
    return float(PARALLEL_PART) * ((b - a) ** 2).sum(1) * ((d - c) ** 2).sum(1)


def uniform_friction(static, kinetic=None):
    """Return a table with the same coefficients for all pairs."""
    static, kinetic = (np.full((1, 1), mu) for mu in (static, kinetic or static))
    return friction_coefficients(static, kinetic, np.zeros(1, dtype=np.int32), np.ones(1))
