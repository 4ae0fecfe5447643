"""Contact as the one term of a model, for each of its clients."""

from weft.contact.contact_barrier import ContactBarrier
from weft.contact.contact_energy import ContactEnergy
from weft.contact.derivatives.differentiable_contact import DifferentiableContact


class ContactTerm(ContactEnergy, ContactBarrier, DifferentiableContact):
    """Contact and friction: an energy for the minimizer, a barrier for step lengths, and
    derivatives for gradients of runs. The three share the value of the step, ``frozen``.
    """
