"""Models whose constants change in time (keyframes): their energies and contact at a given time.

A step has the constants of its end. Two models may differ at some times only, so they are compared
at the time of every keyframe, where each key counts fully, and after the last one, where integrals
over time (the distance that wind has carried its gusts) still differ.
"""

from collections.abc import Sequence

from weft.contact.contact import SelfContact
from weft.contact.contact_energy import ContactEnergy
from weft.energies.base import Bound, Energy
from weft.energies.elastic.strain_limit import StrainLimits
from weft.integrators.model import Model

AFTER = 1.0  # [s] after the last key, where integrals over time are compared


def times_of(model: Model) -> list[float]:
    """Return the times [s] at which models are compared; one time if nothing changes."""
    if model.changing is None:
        return [0.0]
    keys = sorted({0.0, *model.changing.times})
    return [*keys, keys[-1] + AFTER]


def energies_at(model: Model, t: float) -> Sequence[Energy]:
    """Return all energies with the constants of time t [s]."""
    if model.changing is None:
        return model.energies
    now = model.changing(t).energies
    return [now.get(k, e) for k, e in enumerate(model.energies)]


def contact_at(model: Model, t: float) -> SelfContact | None:
    """Return the contact settings at time t [s]; None without contact."""
    given = None if model.contact is None else model.contact.settings
    if given is None or model.changing is None:
        return given
    return model.changing(t).contact or given


def thickens(model: Model) -> bool:
    """Return whether thickness changes in time.

    Thickness grows as far as there is room, and steps hand the rest on, so it has no derivative
    here.
    """
    return model.changing is not None and model.changing(0.0).thickness is not None


def limits_change(model: Model) -> bool:
    """Return whether limits of strain change in time, which has no derivative here either."""
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
    """Update terms of a model to the constants of time t.

    Args:
        model: model of the terms.
        t: [s].
        terms: terms of energies or of inertia.
        places: indices of these energies in the model; None: inertia.
        contact: contact of the model; None: it has none.
    """
    if model.changing is None:
        return
    now = model.changing(t)
    for k, term in zip(places, terms):
        if k is not None and k in now.energies:
            term.update_constants(now.energies[k])
        if now.mass is not None:
            term.update_masses(now.mass)
    if contact is not None and now.contact is not None:
        contact.update_constants(now.contact)
        contact.thicken(now.thickness)
