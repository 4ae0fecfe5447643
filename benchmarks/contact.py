"""Contact kernels on two sheets of 200 x 200 at half the gap, beside ipctk in the same run.

Without ipctk (a development dependency) our own numbers stand alone.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import BenchMeasure, at_most, best_time, info
from weft import kernel
from weft.base.arrays import Faces, Positions
from weft.contact.barrier.barrier import barrier_factors, barrier_gradient
from weft.contact.broad_phase.candidate_search import Trees, find_candidates
from weft.contact.ccd.conservative_advancement import max_step
from weft.contact.collision_mesh import CollisionMesh
from weft.contact.narrow_phase.classify import NarrowPhase
from weft.discretization.mesh import grid
from weft.kernel import vec3
from weft.solve.newton.psd import Psd

SIDE, GAP = 200, 2e-3  # vertices, [m]


def kernels() -> Iterator[BenchMeasure]:
    """Broad phase, narrow phase, gradient, projected Hessian, continuous collision detection."""
    x, faces = sheets()
    rng = np.random.default_rng(0)
    dx = 1e-4 * rng.normal(size=x.shape)
    dx[: len(x) // 2, 1] += GAP
    ours, theirs = _ours(x, dx, faces), _theirs(x, dx, faces)
    limits = {"broad phase": 1.0, "ccd": 0.5, "gradient": 1.0, "projected Hessian": 0.15}
    for name, seconds in ours.items():
        yield info(f"contact/{name}", 1e3 * seconds, "ms")
        if name in theirs:
            yield info(f"contact/{name}, ipctk", 1e3 * theirs[name], "ms")
            ratio = seconds / theirs[name]
            if name in limits:
                yield at_most(f"contact/{name} over ipctk's", ratio, "x", limits[name])
            else:
                yield info(f"contact/{name} over ipctk's", ratio, "x")


def sheets() -> tuple[Positions, Faces]:
    """Two sheets that lie on each other at half the gap."""
    mesh = grid(SIDE, SIDE, 1.0, 1.0)
    flat = np.array(mesh.vertices)
    x = np.concatenate([flat, flat + [0.0, GAP / 2, 0.0]])
    return x, np.concatenate([mesh.faces, mesh.faces + len(flat)])


def broad_phase(repeats: int = 5) -> tuple[float, float | None]:
    """[s] of our broad phase and of ipctk's; None: it is not installed."""
    x, faces = sheets()
    mesh, trees = CollisionMesh(faces, x), Trees()
    ours = best_time(lambda: find_candidates(mesh, x, GAP, trees=trees), repeats)
    try:
        import ipctk
    except ImportError:
        return ours, None
    theirs = ipctk.CollisionMesh(x, ipctk.edges(faces), faces)
    candidates: Any = ipctk.Candidates()
    return ours, best_time(lambda: candidates.build(theirs, x, GAP / 2, ipctk.LBVH()), repeats)


def _ours(x: Positions, dx: Positions, faces: Faces) -> dict[str, float]:
    """[s] of each phase."""
    mesh, trees = CollisionMesh(faces, x), Trees()
    candidates, swept = find_candidates(mesh, x, GAP), find_candidates(mesh, x, GAP, x + dx)
    points, narrow = kernel.array(x, vec3), NarrowPhase(mesh)
    kept = mesh.separation(candidates, GAP, 1.0)
    set_ = narrow.contacts(points, candidates, kept)
    m = len(set_)
    gradient, factors = set_.gradients(points), set_.factors(points, Psd.PROJECTED)
    return {
        "broad phase": best_time(lambda: find_candidates(mesh, x, GAP, trees=trees), 5),
        "narrow phase": best_time(lambda: narrow.contacts(points, candidates, kept), 5),
        "gradient": best_time(
            lambda: kernel.launch(barrier_gradient, m, points, *set_.device, gradient), 5
        ),
        "projected Hessian": best_time(
            lambda: kernel.launch(barrier_factors, m, points, *set_.device, 1, factors), 5
        ),
        "ccd": best_time(lambda: max_step(x, dx, swept), 5),
    }


def _theirs(x: Positions, dx: Positions, faces: Faces) -> dict[str, float]:
    """[s] of each phase in ipctk, where it is installed."""
    try:
        import ipctk
    except ImportError:
        return {}
    mesh = ipctk.CollisionMesh(x, ipctk.edges(faces), faces)
    collisions, potential = ipctk.NormalCollisions(), ipctk.BarrierPotential(GAP, 1.0)
    candidates: Any = ipctk.Candidates()
    swept: Any = ipctk.Candidates()

    def broad() -> None:
        candidates.build(mesh, x, GAP / 2, ipctk.LBVH())

    broad()
    swept.build(mesh, x, x + dx, GAP / 2, ipctk.LBVH())
    collisions.build(candidates, mesh, x, GAP)
    clamp = ipctk.PSDProjectionMethod.CLAMP
    ccd = ipctk.AdditiveCCD()
    return {
        "broad phase": best_time(broad, 5),
        "narrow phase": best_time(lambda: collisions.build(candidates, mesh, x, GAP), 5),
        "gradient": best_time(lambda: potential.gradient(collisions, mesh, x), 5),
        "projected Hessian": best_time(lambda: potential.hessian(collisions, mesh, x, clamp), 1),
        "ccd": best_time(
            lambda: swept.compute_collision_free_stepsize(mesh, x, x + dx, 0.0, ccd), 2
        ),
    }
