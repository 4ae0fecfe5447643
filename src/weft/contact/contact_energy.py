"""Energy of contact and friction: value, gradient and Hessian, which the minimizer needs."""

from collections.abc import Mapping

from weft import kernel
from weft.base.arrays import Floats
from weft.base.timing import Phases
from weft.base.trees import Json
from weft.contact.assembly.contact_matrix import PairBlocks
from weft.contact.contact import Contact
from weft.contact.contact_report import contact_report
from weft.contact.contact_set import ContactSet
from weft.contact.contact_workspace import ContactWorkspace
from weft.contact.frozen_contact import FrozenContact
from weft.contact.settings import SelfContact
from weft.energies.step import Step
from weft.energies.term import Term
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr


class ContactEnergy(Term):
    """The energy of contact and friction in the potential of one step after another.

    Args:
        contact: the surfaces, the settings and the stiffness.
        phases: counts the seconds of each phase.
    """

    name = "contact"
    frozen: FrozenContact  # contact in the step

    def __init__(self, contact: Contact, phases: Phases | None = None) -> None:
        self.workspace = ContactWorkspace(contact, phases)

    def update_constants(self, energy: SelfContact) -> None:
        """Use the friction of these settings from the next step on; other settings stay."""
        self.workspace.update_constants(energy)

    def freeze(self, step: Step) -> None:
        """Begin a step."""
        self.frozen = FrozenContact(self.workspace, step)

    def lag(self, x: WarpArray) -> bool:
        """Evaluate friction again at x; return whether this may change the potential."""
        return self.frozen.lag(x)

    def remember(self, x: WarpArray) -> Mapping[str, Floats]:
        """Return the values that the next step needs, after a step that ended at x."""
        return self.frozen.memory(x)

    def report(self, x: WarpArray) -> Json:
        """Return figures of the contacts at x, see ``contact_report``."""
        return contact_report(self.frozen, x)

    def value(self, x: WarpArray) -> float:
        """Return the energy [J] of all pairs at x; infinite if one is closer than its thickness."""
        return sum(self.terms(x).values())

    def terms(self, x: WarpArray) -> Mapping[str, float]:
        """Return the energies [J] of contact and, if there may be any, of friction at x, by
        name.
        """
        y, contacts = self.frozen.contacts_at(x)
        energies = (kernel.total(e) for e in self._energies(y, contacts))
        found = dict(zip((self.name, "friction"), energies))
        if self.workspace.has_friction:
            found.setdefault("friction", 0.0)
        return found

    def _energies(self, y: WarpArray, contacts: ContactSet) -> list[WarpArray]:
        """Return the energy [J] of each contact and of each pair with friction at y."""
        with self.frozen.phases("barrier"):
            out = [contacts.energies(y)]
        if self.frozen.friction:
            out.append(self.frozen.friction.energies(y))
        return out

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """Add dE/dx at x to g, (N,) vec3 [N]."""
        frozen, embedding = self.frozen, self.frozen.embedding
        y, contacts = frozen.contacts_at(x)
        with frozen.phases("barrier"):
            local = embedding.gradient_of(g)
            if len(contacts):
                contacts.add_forces(contacts.gradients(y), local, embedding.n)
            if frozen.friction:
                frozen.friction.add_forces(frozen.friction.gradient(y), local, embedding.n)
            embedding.pull_back(local, g)

    def add_hessian(self, x: WarpArray, psd: Psd, A: BlockCsr) -> BlockCsr:
        """Return A plus the Hessian of all pairs at x, on a pattern that holds both.

        Args:
            x: (N,) vec3 [m] points.
            psd: exact or projected Hessian.
            A: matrix of the other energies; it is returned itself if no matrix of this step has
                had pairs.
        """
        frozen, friction = self.frozen, self.frozen.friction
        late_pairs, factors = self.workspace.late_pairs, self.workspace.factors
        y, contacts = frozen.contacts_at(x)
        if len(contacts) == 0 and not friction and not frozen.embedding.has_joined:
            return A
        with frozen.phases("contact matrix"):
            if psd is Psd.EXACT:
                local = contacts.exact(y)
            else:
                local = contacts.factors(y, psd, factors.take(len(contacts)))
            early = frozen.step.may_end_early and psd is not Psd.EXACT
            late = late_pairs.among(y, contacts) if early else None
            blocks = [PairBlocks(contacts, local, late)]
            if friction:
                exact = psd is Psd.EXACT
                local = friction.hessians(y) if exact else friction.factors(y, bound=early)
                blocks.append(PairBlocks(friction, local))
            every = early and late_pairs.is_active
            return frozen.embedding.add_hessian(
                A.finish(), blocks, lambda: frozen.search.pattern_pairs(y, every)
            )
