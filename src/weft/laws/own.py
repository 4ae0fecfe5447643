"""A user's own law: psi(F) as a Warp function, in a few lines.

    @wp.struct
    class Params:
        stiffness: weft.laws.Scalar

    @wp.func
    def psi(F: weft.laws.mat32, p: Params):
        ...

    law = weft.laws.OwnLaw("rubbery", Params, psi, {"stiffness": 500.0})

The stress and the Hessian are generated, or given by hand as ``pk1(F, p)`` and ``hessian(F, p, psd)
-> (uu, uv, vv)`` (``base.LawFunctions``). Both are checked against psi when the law is constructed.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from weft.base.arrays import Floats
from weft.base.errors import LawError
from weft.base.runtime_types import checked
from weft.laws.base import SingleLaw
from weft.laws.functions import LawFunctions
from weft.solve.newton.psd import Psd

TOLERANCE = 1e-5  # largest error of the checks, relative to the stiffness
_STEP = 1e-5  # of F, in the central differences of the checks

# Cache: every set of functions gets one record, and so one set of kernels.
_made: dict[tuple[object, ...], LawFunctions] = {}


@checked(LawError)
class OwnLaw(SingleLaw):
    """A law that a user defines.

    Args:
        name: of its kernels: letters, digits and underscores.
        Params: a ``wp.struct`` of its parameters.
        psi: ``wp.func`` (F: mat32, p: Params) -> Scalar, energy density [J/m^2].
        values: of the fields of Params; an array has one for every sample.
        pk1: ``wp.func`` (F, p) -> mat32, or None: generated.
        hessian: ``wp.func`` (F, p, psd) -> (uu, uv, vv), or None: generated.

    Raises:
        LawError: a psi that depends on the frame or is not finite near rest, derivatives that are
            not those of psi, or values that do not fit Params.
    """

    def __init__(
        self,
        name: str,
        Params: Any,
        psi: Any,
        values: Mapping[str, Any],
        *,
        pk1: Any = None,
        hessian: Any = None,
    ) -> None:
        if not re.fullmatch(r"[A-Za-z]\w*", name):
            raise LawError("OwnLaw.name", got=repr(name), expected="letters, digits, underscores")
        self.functions, self.values = _functions(name, Params, psi, pk1, hessian), dict(values)
        fields = set(np.dtype(Params.numpy_dtype()).names or ())
        if set(values) != fields:
            raise LawError(
                f"OwnLaw {name!r}: values", got=sorted(values), expected=f"of {sorted(fields)}"
            )
        _check(self)

    def parameters(self) -> Mapping[str, Floats | float]:
        """Return the fields of ``Params``."""
        return self.values

    def __repr__(self) -> str:
        """Return two lines: the name of the law, and its values in the units of psi."""
        values = ", ".join(
            f"{k} {v:g}" if np.ndim(v) == 0 else f"{k} by sample" for k, v in self.values.items()
        )
        return f"{self.name}: own membrane law psi(F) [J/m^2]\n  {values}"


def _functions(name: str, Params: Any, psi: Any, pk1: Any, hessian: Any) -> LawFunctions:
    """Return the record of these functions; a second set of the same name gets another module."""
    key = (name, Params, psi, pk1, hessian)
    if key not in _made:
        again = sum(other[0] == name for other in _made)
        module = f"own_{name}" + (f"_{again + 1}" if again else "")
        _made[key] = LawFunctions(module, Params, psi, pk1, hessian)
    return _made[key]


def _check(law: OwnLaw) -> None:
    """Check that psi is finite and independent of the frame, and that its derivatives are right.

    Raises:
        LawError: a check that fails.
    """
    rng = np.random.default_rng(0)
    # The checks use the first sample's parameters if parameters differ between samples.
    one = OwnLaw.__new__(OwnLaw)
    one.functions = law.functions
    one.values = {k: np.asarray(v)[0] if np.ndim(v) else v for k, v in law.values.items()}
    law = one
    F = np.eye(3)[:, :2] + 0.15 * rng.normal(size=(16, 3, 2))
    energy = law.energy(F)
    if not np.isfinite(energy).all():
        raise LawError(f"{law.name}: psi", got="no finite value", expected="finite near rest")
    stiffness = max(float(np.abs(law.hessian(F)).max()), 1e-300)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn *= np.sign(np.linalg.det(turn))
    if np.abs(law.energy(turn @ F) - energy).max() > TOLERANCE * stiffness:
        raise LawError(
            f"{law.name}: psi",
            got="other values for a rotated F",
            expected="psi(R F) = psi(F)",
            hint="write it in lengths of F's columns and products of them",
        )
    d = rng.normal(size=F.shape)
    h = _STEP
    slope = (law.energy(F + h * d) - law.energy(F - h * d)) / (2 * h)
    _compare(law, "stress", np.einsum("nij,nij->n", law.stress(F), d), slope, stiffness)
    change = (law.stress(F + h * d) - law.stress(F - h * d)) / (2 * h)
    vec = d.transpose(0, 2, 1).reshape(-1, 6)
    product = np.einsum("nij,nj->ni", law.hessian(F, Psd.EXACT), vec)
    _compare(law, "Hessian", product, change.transpose(0, 2, 1).reshape(-1, 6), stiffness)


def _compare(law: OwnLaw, what: str, got: Floats, expected: Floats, stiffness: float) -> None:
    """Raise a LawError if a derivative differs from differences by more than ``TOLERANCE``."""
    error = float(np.abs(got - expected).max()) / stiffness
    if not error <= TOLERANCE:
        raise LawError(
            f"{law.name}: {what}",
            got=f"off by {error:.1e} of the stiffness",
            expected="the derivative of psi",
            hint="leave it out, and it is generated; a kink of psi near rest does this too",
        )
