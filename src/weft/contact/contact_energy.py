"""Contact and friction as a term of the potential, and as a limit of the step length.

``contact_set`` has the pairs as data, ``detector`` finds candidates and limits, and
``assembly.embedding`` maps points to vertices; this module joins them for one step after another.
"""

from collections.abc import Mapping

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Bools, Floats, Ints, Positions
from weft.base.timing import Phases
from weft.base.trees import Json
from weft.contact.assembly.contact_matrix import PairBlocks
from weft.contact.assembly.lumped_pairs import LumpedPairs
from weft.contact.barrier.kinks import places_around
from weft.contact.barrier.stiffness import AdaptiveStiffness
from weft.contact.ccd.carry_along import CarryAlong
from weft.contact.ccd.obstacles import near_sides
from weft.contact.ccd.prescribed_motion import PrescribedMotion
from weft.contact.collision_groups import friction_of
from weft.contact.collision_mesh import Excluded
from weft.contact.contact import Contact, SelfContact
from weft.contact.contact_forces import link_forces
from weft.contact.contact_set import ContactSet, PairSet
from weft.contact.derivatives.contact_derivative import ContactDerivative
from weft.contact.detector import ContactDetector
from weft.contact.exact.intersection_check import IntersectionCheck
from weft.contact.friction.friction import FrictionInputs, FrictionSet
from weft.contact.friction.law import friction_coefficients
from weft.contact.memory import FIRMNESS, RELEASED, SLIP
from weft.contact.released import released_levels, still_released
from weft.energies.barrier import Barrier
from weft.energies.by_constants import ByName
from weft.energies.derivative import DifferentiableTerm
from weft.energies.gather import gather_gradient
from weft.energies.rest_mesh import RestMesh, by_areas
from weft.energies.step import Step
from weft.energies.step_cotangents import StepCotangents
from weft.kernel import WarpArray, mat33, vec3
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr
from weft.solve.sparse.vectors import max_norm

SETTLED = 0.5  # of the room of a pair: largest change by the last increment of a minimization
PART = 0.9  # of the room between bodies that pinch the cloth: the thickness that is kept


class ContactEnergy(Barrier, DifferentiableTerm):
    """The energy of contact and friction in the potential of one step after another.

    Args:
        contact: the surfaces, the settings and the stiffness.
        phases: counts the seconds of each phase.
    """

    name = "contact"

    def __init__(self, contact: Contact, phases: Phases | None = None) -> None:
        self.contact, self.embedded = contact, contact.build_embedding()
        self.phases = Phases() if phases is None else phases
        barrier = contact.stiffness, contact.gap
        self.search = ContactDetector(contact.mesh, *barrier, self.phases)
        n = len(contact.mesh.rest)
        self._y, self._dy = kernel.zeros(n, vec3), kernel.zeros(n, vec3)  # vertices, displacements
        sides = contact.mesh.sides
        self._factors = kernel.GrowingArray(vec3, 3, 4)  # memory that all matrices use again
        self._latecomers = LumpedPairs(self.embedded.n, n, sides.thickest)
        self._rubbing = sides.has_friction, contact.settings.stick
        self._table = friction_coefficients(sides.static, sides.kinetic, sides.part, sides.grip)
        # Fixed points and released vertices, with the pairs that are left out because of them.
        self._left_out: tuple[Bools, Ints, Excluded] | None = None
        self._motion = PrescribedMotion(contact.mesh)
        self._slip: WarpArray = kernel.zeros(0, vec3)  # elastic slip at the start of the step
        self.friction: FrictionSet | None = None
        self._derivative: ContactDerivative | None = (
            None  # of the step and friction that are frozen
        )
        self.blocked = None
        self._check = IntersectionCheck(contact.mesh)
        bodies = (*contact.rigid_bodies.bodies, *contact.bodies)
        first = len(sides.names) - len(bodies)
        links = [(k, b.name) for k, b in enumerate(bodies, first) if b.link is not None]
        self._links = {name: np.flatnonzero(sides.part == k).astype(np.int32) for k, name in links}

    def update_constants(self, energy: SelfContact) -> None:
        """Use the friction of these settings from the next step on; other settings stay."""
        sides = self.contact.mesh.sides
        static, kinetic = friction_of(energy, sides.names)
        self._rubbing = bool((static > 0).any()), energy.stick
        self._table = friction_coefficients(static, kinetic, sides.part, sides.grip)

    def freeze(self, step: Step) -> None:
        """Begin a step.

        Bodies are set to their positions at the end of the step. Friction, and the thickness for
        which bodies leave room, are evaluated at the positions at which the step begins.
        """
        self._begin(step)
        sides, start = self.contact.mesh.sides, self._carrying.start
        if self.contact.settings.pinch == "thin" and sides.thickest > 0:
            self._measure_room(start)
        if self._rubs:
            slip, n = step.memory.get(SLIP), self.embedded.n
            self._slip = kernel.zeros(n, vec3) if slip is None else kernel.points(np.array(slip))
            # The candidates of the path that is tried first also serve the contacts at its start.
            # These push with the stiffness of the step that led there.
            carrying = self._carrying
            _, dy = carrying.displacements(step.start - carrying.x)
            self.search.find_candidates_along(start, dy)
            self.set_stiffness(before=True)
            self._freeze_friction(start, self.search.contacts(start))
        self.set_stiffness(before=False)

    def _begin(self, step: Step) -> None:
        """Forget the candidates and the friction of the step before, and set the bodies."""
        released = released_levels(step.memory, len(self.contact.mesh.rest))
        self._exclude(np.array(step.fixed), released)
        self.search.begin(self._excluded)
        self.embedded.begin(step)
        self._latecomers.begin()
        self.step, self.blocked = step, None
        self.friction = self._derivative = None
        self.adaptive_stiffness = AdaptiveStiffness.of(step.memory.get(FIRMNESS))
        if len(step.bodies[1]):
            bodies = kernel.points(np.array(step.bodies[1]))
            wp.copy(self._y, bodies, dest_offset=self.embedded.n)
        settings = self.contact.settings
        self._carrying = CarryAlong(
            self.search, self.embedded, step, self._motion, settings, released
        )

    def _exclude(self, fixed: Bools, released: Ints) -> None:
        """Leave pairs out of the searches, because of these prescribed points and released
        vertices.
        """
        last = self._left_out
        same = last is not None and np.array_equal(fixed, last[0])
        if last is None or not (same and np.array_equal(released, last[1])):
            last = self._left_out = fixed, released, self.contact.excluded(fixed, released)
        self._excluded = last[2]

    def set_stiffness(self, *, before: bool) -> None:
        """Set the stiffness of the step before this one, or of this one."""
        firmness = self.adaptive_stiffness.before if before else self.adaptive_stiffness.now
        self.search.stiffen(self.contact.stiffness * firmness)

    @property
    def _rubs(self) -> bool:
        """Return whether there may be friction in the step."""
        step, begin = self.step, self.contact.settings.friction_from
        if step.scale is None:
            may = step.slip is not None and step.t >= begin
        else:
            may = bool(np.isfinite(step.span)) and step.t > begin * (1 - 1e-12)
        return may and self._rubbing[0]

    def _freeze_friction(self, y: WarpArray, contacts: ContactSet) -> None:
        """Evaluate the friction of the step from the contacts at y."""
        self._derivative = None
        with self.phases("friction"):
            self.friction = FrictionSet.of(contacts, y, *self.friction_inputs) or None

    @property
    def friction_inputs(self) -> FrictionInputs:
        """The data from which the friction of this step is frozen, besides the contacts."""
        smooth = self.step.slip
        if smooth is None:
            smooth = self._rubbing[1] * self.step.dt
        return FrictionInputs(self._carrying.start, self._table, smooth, self._slip)

    def _measure_room(self, y: WarpArray) -> None:
        """Keep only a part of the thickness if y (n+b,) has less room, because bodies pinch the
        cloth.
        """
        sides = self.contact.mesh.sides
        near = self.search.near(y, sides.thickest)
        if len(near) == 0:
            return
        pairs, kinds = (kernel.numpy(a) for a in near.device)
        keep = np.maximum(sides.thickness_of(pairs, kinds), 1e-300)
        part = near.distances(y) / keep
        k = int(np.argmin(part))
        if part[k] <= 1.0:
            self.search.set_thickness_scale(PART * float(part[k]))
            self.blocked = near_sides(np.array(kernel.numpy(y)), pairs[k], self.step.t)

    def put(self, x: WarpArray) -> WarpArray:
        """Write the vertices of points x into ``y``, whose vertices of bodies stay; return it."""
        self.embedded.to_surface(x, self._y)
        return self._y

    def _put_displacement(self, d: WarpArray) -> WarpArray:
        """Return the displacements of vertices if points move by d; those of bodies are zero."""
        self.embedded.to_surface(d, self._dy)
        return self._dy

    def _at(self, x: WarpArray) -> tuple[WarpArray, ContactSet]:
        """Return the vertices of points x, and the contacts there."""
        y = self.put(x)
        return y, self.search.contacts(y)

    def value(self, x: WarpArray) -> float:
        """Return the energy [J] of all pairs at x; infinite if one is closer than its thickness."""
        return sum(self.terms(x).values())

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """Return the energies [J] of contact and, if there may be any, of friction at x, by
        name.
        """
        y, contacts = self._at(x)
        energies = (kernel.total(e) for e in self._energies(y, contacts))
        found = dict(zip((self.name, "friction"), energies))
        if self._rubbing[0]:
            found.setdefault("friction", 0.0)
        return found

    def _energies(self, y: WarpArray, contacts: ContactSet) -> list[WarpArray]:
        """Return the energy [J] of each contact and of each pair with friction at y."""
        with self.phases("barrier"):
            out = [contacts.energies(y)]
        if self._rubbing[0] and self.friction:
            out.append(self.friction.energies(y))
        return out

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx at x to g, (N,) vec3 [N]."""
        y, contacts = self._at(x)
        with self.phases("barrier"):
            local = self.embedded.gradient_of(g)
            if len(contacts):
                self._gather(contacts, contacts.gradients(y), local)
            if self.friction:
                self._gather(self.friction, self.friction.gradient(y), local)
            self.embedded.pull_back(local, g)

    def _gather(self, pairs: PairSet, forces: WarpArray, g: WarpArray) -> None:
        """Add the forces of pairs (m,4) to the vertices, g (n,)."""
        i = pairs.incidence(self.embedded.n)
        arrays = (i.start, i.element, i.place, forces, g)
        kernel.launch(gather_gradient, self.embedded.n, *arrays)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Return A plus the Hessian of all pairs at x, on a pattern that holds both.

        Args:
            x: (N,) vec3 [m] points.
            psd: exact or projected Hessian.
            A: matrix of the other energies; it is returned itself if no matrix of this step has
                had pairs.
        """
        y, contacts = self._at(x)
        if len(contacts) == 0 and not self.friction and not self.embedded.has_joined:
            return A
        with self.phases("contact matrix"):
            if psd is Psd.EXACT:
                local = contacts.exact(y)
            else:
                local = contacts.factors(y, psd, self._factors.take(len(contacts)))
            early = self.step.may_end_early and psd is not Psd.EXACT
            late = self._latecomers.among(y, contacts) if early else None
            blocks = [PairBlocks(contacts, local, late)]
            if self.friction:
                f = self.friction
                local = f.hessians(y) if psd is Psd.EXACT else f.factors(y, bound=early)
                blocks.append(PairBlocks(f, local))
            every = early and self._latecomers.matters
            return self.embedded.add_hessian(A.finish(), blocks, lambda: self.search.soon(y, every))

    def add_mean_hessian(self, x: WarpArray, A: BlockCsr) -> BlockCsr:
        """Return A plus the exact Hessian of all pairs at x; at a kink the mean of both sides
        (``barrier.kinks``).
        """
        y = self.put(x)
        places = places_around(self.search, y)
        if len(places) == 1:
            return self.add_hessian(x, Psd.EXACT, A)
        blocks = []
        for place in places:
            contacts = self.search.contacts(place)
            local = np.array(kernel.numpy(contacts.exact(place))) / len(places)
            blocks.append(PairBlocks(contacts, kernel.array(local, mat33)))
        if self.friction:
            blocks.append(PairBlocks(self.friction, self.friction.hessians(y)))
        return self.embedded.add_hessian(A.finish(), blocks, lambda: self.search.soon(y))

    def max_step(self, x: WarpArray, d: WarpArray) -> float:
        """Return the part of the displacement d, in [0, 1], that points may go from x before a pair
        collides.
        """
        return self.search.max_step(self.put(x), self._put_displacement(d))

    def is_settled(self, x: WarpArray, d: WarpArray) -> bool:
        """Return whether d changes the distance of no pair by more than ``SETTLED`` of its room.

        Newton's increment at most doubles the room of a pair that is far too near, so for such a
        pair a small increment does not mean that the balance is near.
        """
        y, contacts = self._at(x)
        changes = contacts.changes_of_room(y, self._put_displacement(d))
        return kernel.largest(changes) <= SETTLED

    def truncate(self, x: WarpArray, d: WarpArray) -> WarpArray:
        """Return d with the displacement of every vertex cut to the part that its near pairs leave
        it.
        """
        y, dy = self.put(x), self._put_displacement(d)
        bound = self.embedded.bounds(d, y.shape[0])
        return self.embedded.shorten_displacements(d, self.search.parts(y, dy, bound))

    def lag(self, x: WarpArray) -> bool:
        """Evaluate friction anew from the contacts at x, where the step has led.

        Returns:
            False if the step has no friction, or there is no contact now and was no friction
            before.
        """
        if not self._rubs:
            return False
        y, contacts = self._at(x)
        rubbed = self.friction is not None
        self._freeze_friction(y, contacts)
        return rubbed or len(contacts) > 0

    def carry(self, goal: Positions, step: Step) -> Positions | None:
        """Move from the start of the step towards ``goal`` as far as contact allows, with pins and
        bodies at their prescribed places.

        If these would collide with free cloth, they carry it along (``ccd.carry_along``).

        Args:
            goal: (N,3) [m] points, with prescribed ones at their places.
            step: the step, with which the term was frozen.

        Returns:
            (N,3) [m] points; None if pins and bodies cannot get there without passing through
            something.
        """
        carrying = self._carrying
        found = carrying.carry(goal)
        if carrying.excluded is not None:  # cloth was released
            self._excluded, carrying.excluded = carrying.excluded, None
            if self._rubs:
                self._freeze_friction(carrying.start, self.search.contacts(carrying.start))
        self.blocked = carrying.obstacle or self.blocked
        return found

    def has_new_intersections(self, x: WarpArray) -> bool:
        """Return whether surfaces intersect at x that did not intersect at the start of the
        step.
        """
        y = self.put(x)
        with self.phases("intersections"):
            now = self._check.pairs(y, self._excluded)
            if len(now) == 0:
                return False
            before = self._check.pairs(self._carrying.start, self._excluded)
            return not set(map(tuple, now.tolist())) <= set(map(tuple, before.tolist()))

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the values that the next step needs, after a step that ended at x.

        These are the firmness (``barrier.stiffness``) and the elastic slip of friction
        (``friction``).
        """
        kept: dict[str, Floats] = {}
        if self._carrying.released.any():
            y = np.array(kernel.numpy(self.put(x)))
            left = still_released(self.contact.mesh, y, self._carrying.released)
            kept[RELEASED] = left.astype(np.float64)
        if self.step.scale is not None:
            kept[FIRMNESS] = self.adaptive_stiffness.after(*self.measure_pressing(x)).memory()
        if self._rubs:
            kept[SLIP] = np.zeros((self.embedded.n, 3))
            if self.friction:
                after = self.friction.update_slips(self.put(x), self._slip)
                kept[SLIP] = np.array(kernel.numpy(after))
        return kept

    def derivative(self, step: Step, x: WarpArray, at: Positions | None) -> ContactDerivative:
        """Return the derivatives at the end x (n,) of the step, with friction evaluated at ``at``.

        They are those of the last call as long as x is the same array.
        """
        if self._derivative is None or self._derivative.x is not x:
            self._derivative = ContactDerivative(self, step, x, at)
        return self._derivative

    def pull_back(self, step: Step, x: WarpArray, by: Floats, into: StepCotangents) -> None:
        """Add the derivatives by the start of the step, bodies and the memory before."""
        self.derivative(step, x, into.at).pull(by, into)

    def pull_back_memory(
        self, step: Step, x: WarpArray, kept: Mapping[str, Floats], into: StepCotangents
    ) -> Floats:
        """Return derivatives by the end x, from those by elastic slip and stiffness."""
        return self.derivative(step, x, into.at).pull_back_memory(kept, into)

    def along_constants(
        self, step: Step, x: WarpArray, change: ByName, at: Positions | None
    ) -> tuple[Floats, ByName]:
        """Return the changes of dE/dx and of the elastic slip along a change of constants."""
        return self.derivative(step, x, at).along_constants(change)

    def pull_back_constants(
        self,
        step: Step,
        x: WarpArray,
        by: Floats,
        change: ByName,
        kept: ByName,
        into: StepCotangents,
    ) -> float:
        """Return the change of s and of the elastic slip along a change of constants, by what
        ``pull_back`` and ``pull_back_memory`` of this step found.
        """
        return self.derivative(step, x, into.at).pull_back_constants(change)

    def zero_tables(self) -> dict[str, Floats]:
        """Return zeros for the mass of all cloth, and for rest positions (mollifier)."""
        return {"total mass": np.zeros(()), "rest": np.zeros((len(self.contact.mesh.rest), 3))}

    def by_tables(self, step: Step, x: WarpArray, by: Floats, at: Positions | None) -> ByName:
        """Return what ``pull_back`` and ``pull_back_memory`` of this step found by tables.

        The stiffness is proportional to the mean mass.
        """
        found = self.derivative(step, x, at)
        by_mass = np.asarray(found.by_stiffness() / float(self.contact.mass.sum()))
        return {"total mass": by_mass, "rest": found.by_rest_positions()}

    def by_corner_uv(self, by: ByName, rest: RestMesh) -> Floats:
        """Return derivatives (f,3,2) by the mass of all faces, and by flat positions."""
        out = by_areas(rest.mesh, rest.density * float(by["total mass"]))
        if rest.mesh.vertex_uv is not None:
            flat = by["rest"][: rest.mesh.n_vertices, :2]
            np.add.at(out.reshape(-1, 2), rest.corner, flat)
        return out

    def pull_back_place(self, step: Step, x: WarpArray, by: Floats, at: Positions) -> Floats:
        """Return (n,3) derivatives by the positions at which friction was evaluated."""
        return self.derivative(step, x, at).by_place(by)

    def measure_pressing(self, x: WarpArray) -> tuple[float, float]:
        """Return the largest force on a vertex and the least room, which the firmness follows.

        The force of contact is relative to the force that the stiffness without factor holds; the
        room is relative to the gap, for the largest thickness.
        """
        y, contacts = self._at(x)
        if len(contacts) == 0:
            return 0.0, 1.0
        g = kernel.zeros(self.embedded.n, vec3)
        self._gather(contacts, contacts.gradients(y), g)
        kept = self.search.thickness_part * self.contact.mesh.sides.thickest
        room = (contacts.least_distance(y) - kept) / self.search.gap
        return max_norm(g) / self.contact.force_at_half_gap, room

    def report(self, x: WarpArray) -> Json:
        """Return figures of the contacts at x, by name.

        These are the number of pairs, the least distance [m], the work of friction [J] in the step,
        forces on links of arms, and where bodies pinch the cloth.
        """
        y, contacts = self._at(x)
        found: Json = {"count": len(contacts), "least_distance": None, "friction_work": 0.0}
        if len(contacts):
            found["least_distance"] = contacts.least_distance(y)
        if self.friction:
            found["friction_work"] = self.friction.work(y)
        if self._links:
            found["links"] = link_forces(self._links, y, contacts, self.friction)
        if self.search.thickness_part < 1.0 and self.blocked is not None:
            place, part = list(self.blocked.place), self.search.thickness_part
            found["pinched"] = {"t": self.step.t, "part": part, "place": place}
        if self._carrying.released.any():
            cloth = self._carrying.released[: self.contact.n_cloth] > 0
            at = np.array(kernel.numpy(y))[: len(cloth)][cloth]
            found["released"] = {"vertices": len(at), "place": at.mean(0).tolist()}
        return found
