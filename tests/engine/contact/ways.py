"""Record every motion of the searches of a run, and check each by ipctk's collision detection."""

import contextlib

import ipctk
import numpy as np

from weft import kernel
from weft.discretization.mesh import unique_edges
from weft.integrators import base
from weft.integrators.potential import Potential
from weft.solve.newton import minimize

COARSE, FINE = 1e-6, 1e-12  # tolerances of ipctk's detection: most ways need only the first
KEPT = 0.001  # of its first distance, that ipctk asks of a pair; weft keeps a tenth


class Ways:
    """The motions of one run: from where a step begins to the start of its search, along each
    line search, and what is left between the end of a search and the end of its step.
    """

    def __init__(self, model):
        contact, mesh = model.contact, model.contact.mesh
        self.contact, n = contact, len(contact.mass)
        edges = np.ascontiguousarray(unique_edges(mesh.faces)[0].astype(np.int32))
        faces = np.ascontiguousarray(mesh.faces.astype(np.int32))
        self.mesh = ipctk.CollisionMesh(np.asfortranarray(mesh.rest), edges, faces)
        self.mesh.can_collide = ipctk.make_static_obstacle_filter(n)
        self.step, self.last, self.reached = None, None, []
        self.count, self.bad = 0, []

    def check(self, what, begin, end, step, before=None):
        """Whether the straight way between positions of points is free, bodies moving along."""
        b0, b1 = step.bodies if before is None else before
        ends = [
            np.asfortranarray(np.concatenate([self.contact.all_vertices(x), b]))
            for x, b in ((begin, b0), (end, b1))
        ]
        self.count += 1
        for tolerance in (COARSE, FINE):
            ccd = ipctk.TightInclusionCCD(tolerance, 10_000_000, 1 - KEPT)
            if ipctk.is_step_collision_free(self.mesh, *ends, narrow_phase_ccd=ccd):
                return
        self.bad.append((what, step.t))

    def begins(self, step):
        if self.step is not step:
            self.step, self.last, self.reached = step, None, []

    def reaches(self, phi, found):
        """The start of a search."""
        self.begins(phi.step)
        if found is not None:
            self.check("start", phi.step.state.x, found, phi.step)
            self.reached.append(np.array(found))

    def goes(self, step, begin, end):
        """A motion while bodies are at their ends."""
        self.begins(step)
        self.joins(step, begin)
        still = (step.bodies[1],) * 2
        if not np.array_equal(begin, end):
            self.check("search", begin, end, step, still)
        self.last = np.array(end)

    def joins(self, step, x):
        """Positions follow on those before; a motion that nobody announced is checked, too."""
        known = self.reached if self.last is None else [*self.reached, self.last]
        if any(np.array_equal(x, k) for k in known):
            return
        begin, bodies = (known[-1], (step.bodies[1],) * 2) if known else (step.state.x, step.bodies)
        self.check("gap", begin, x, step, bodies)

    def ends(self, phi, x, counts):
        """The end of an accepted step."""
        self.begins(phi.step)
        if counts.outcome.ok and x is not None:
            self.joins(phi.step, x)


@contextlib.contextmanager
def recorded(model):
    """The ways of steps of a model that are taken inside."""
    ways = Ways(model)
    reach, advance, end = Potential.reach, minimize.Search.advance, base.check_intersections

    def reaching(phi, goal):
        found = reach(phi, goal)
        ways.reaches(phi, found)
        return found

    def advancing(search, *rest):
        begin = np.array(kernel.numpy(search.at.x))
        outcome = advance(search, *rest)
        step = search.problem.step
        ways.goes(step, begin, np.array(kernel.numpy(search.at.x)))
        return outcome

    def ending(phi, x, counts):
        ways.ends(phi, x, counts)
        return end(phi, x, counts)

    Potential.reach, minimize.Search.advance, base.check_intersections = reaching, advancing, ending
    try:
        yield ways
    finally:
        Potential.reach, minimize.Search.advance, base.check_intersections = reach, advance, end
