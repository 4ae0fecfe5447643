"""Models whose numbers change in time (``keys``): what they are made of at a time.

A step has the numbers of its end, so a number of its own is a parameter like any other; what
differs between two models may differ at some times alone. Numbers are functions of the keys, each
of which counts fully at its own time, and integrals of them (what a wind has carried) do after it.
"""

from collections.abc import Sequence

from weft.contact.contact import SelfContact
from weft.contact.contact_energy import ContactEnergy
from weft.energies.base import Bound, Energy
from weft.energies.elastic.strain_limit import StrainLimits
from weft.integrators.model import Model

AFTER = 1.0  # [s] after the last key: what is integrated over time counts there


def times_of(model: Model) -> list[float]:
    """[s] at which models are compared; one, where nothing changes."""
    if model.changing is None:
        return [0.0]
    keys = sorted({0.0, *model.changing.times})
    return [*keys, keys[-1] + AFTER]


def energies_at(model: Model, t: float) -> Sequence[Energy]:
    """All energies with the numbers of the time t [s]."""
    if model.changing is None:
        return model.energies
    now = model.changing(t).energies
    return [now.get(k, e) for k, e in enumerate(model.energies)]


def contact_at(model: Model, t: float) -> SelfContact | None:
    """How things meet at the time t [s]."""
    given = None if model.contact is None else model.contact.settings
    if given is None or model.changing is None:
        return given
    return model.changing(t).contact or given


def thickens(model: Model) -> bool:
    """Whether thickness changes: it does as far as there is room, which steps hand on."""
    return model.changing is not None and model.changing(0.0).thickness is not None


def limits_change(model: Model) -> bool:
    """Whether limits of strain do, likewise."""
    limits = [
        [e.law.most for e in energies_at(model, t) if isinstance(e, StrainLimits)]
        for t in times_of(model)
    ]
    return any(most != limits[0] for most in limits)


def take(
    model: Model,
    t: float,
    terms: Sequence[Bound],
    places: Sequence[int | None],
    contact: ContactEnergy | None,
) -> None:
    """Give terms of a model the numbers of the time t [s].

    Args:
        model: whose terms they are.
        t: [s].
        terms: of energies, or of inertia.
        places: numbers of these energies in the model; None: of inertia.
        contact: its contact; None: it has none.
    """
    if model.changing is None:
        return
    now = model.changing(t)
    for k, term in zip(places, terms):
        if k is not None and k in now.energies:
            term.retake(now.energies[k])
        if now.mass is not None:
            term.reweigh(now.mass)
    if contact is not None and now.contact is not None:
        contact.retake(now.contact)
        contact.thicken(now.thickness)
