"""Derivatives by a number of a scene by way of the constants of energies, contact and inertia.

Energies that know their mixed derivatives (``energies.by_constants``), contact and inertia give
d2E/dx dc. The other factor dc/dp, how the scene makes constants c from its number p, is a
difference quotient of the constants. It is exact if they are linear in p, as all constants of a
fabric are with triangles and hinges, and has an error of 1e-12 elsewhere. No force is subtracted
from another.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from weft import kernel
from weft.adjoint.reverse_step import ReverseStep
from weft.base.arrays import Floats
from weft.contact.derivatives.by_constants import ContactNumbers
from weft.contact.derivatives.contact_slopes import ContactSlopes
from weft.energies.base import Energy
from weft.energies.by_constants import ByName, along_constants, by_constants
from weft.energies.step import Step


@dataclass(frozen=True, eq=False)
class ConstantChanges:
    """Derivatives dc/dp of constants by one number p of a scene.

    Args:
        of: the energies of the model.
        energies: derivatives by index of the energy and name of the constant.
        mass: (n,) [kg] derivative of the masses in inertia; None: zero.
        contact: derivatives of contact's constants by name.
    """

    of: Sequence[Energy] = ()
    energies: dict[int, ByName] = field(default_factory=dict)
    mass: Floats | None = None
    contact: ByName = field(default_factory=dict)

    @property
    def some(self) -> bool:
        """True if any constant changes."""
        return bool(self.energies or self.mass is not None or self.contact)

    def along(self, back: ReverseStep) -> float:
        """Return -z . d2Phi/dx dc . dc/dp, and add what contact remembers.

        ``back.mixed`` caches the mixed derivatives of a step, because all parameters share them.
        """
        total, seen = 0.0, back.mixed
        step = dataclasses.replace(back.phi.step, anew=back.pulled.at)
        if not self.some:
            return total
        if "x" not in seen:
            seen["x"] = np.array(kernel.numpy(back.x))
        x = seen["x"]
        for k, change in self.energies.items():
            if k not in seen:
                seen[k] = by_constants(self.of[k], x, back.z, step)
            found: ByName = seen[k]
            total -= sum(float((found[name] * c).sum()) for name, c in change.items())
        if self.mass is not None:
            total -= float((back.z * _inertia(self.mass, step, x)).sum())
        if self.contact and back.touching is not None:
            numbers = ContactNumbers(back.touching)
            total += numbers.along(self.contact, back.z, back.kept)
        return total

    def forces(
        self, step: Step, x: Floats, touching: ContactSlopes | None
    ) -> tuple[Floats, dict[str, Floats]]:
        """Return (n,3) [N] d2Phi/dx dc . dc/dp, and the change of what contact remembers."""
        out, kept = np.zeros_like(x), dict[str, Floats]()
        for k, change in self.energies.items():
            out += along_constants(self.of[k], x, change, step)
        if self.mass is not None:
            out += _inertia(self.mass, step, x)
        if self.contact and touching is not None:
            forces, kept = ContactNumbers(touching).changed(self.contact)
            out += forces
        return out, kept


def _inertia(mass: Floats, step: Step, x: Floats) -> Floats:
    """Return (n,3) m (x - y)/s; zero in an equilibrium and at prescribed vertices."""
    if step.scale is None:
        return np.zeros_like(x)
    return np.where(step.fixed[:, None], 0.0, (mass / step.scale)[:, None] * (x - step.predicted))
