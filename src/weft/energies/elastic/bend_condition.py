"""Bend condition with Baraff & Witkin's (1998) derivatives: normals and edge keep their lengths.

Source: Pritchard 2012, eqs. 24-57 (BODY). E = k/2 theta^2, but ``gradient`` and ``hessian`` are
*not* derivatives of E. They are k theta g and k (g g^T + theta h), with g (eq. 54) and h (eq. 57)
the derivatives of an angle whose normals and edge keep their lengths (``bend_condition_kernels``).
The difference to the true derivative (``HingeBending``) is a tension k theta sin(theta)
cos(theta)/|e| in the edge: it has no net force and no net moment, but it does work under a change
of size (``tests/engine/energies/test_condition.py``). h is symmetric as a 12 x 12
matrix; its 3 x 3 blocks are not, contrary to section 3.4 of the notes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from weft.energies.elastic.bend_condition_kernels import FOLD_KERNELS
from weft.energies.elastic.hinge_bending import HingeBending


@dataclass(frozen=True, eq=False)
class FrozenLengthBending(HingeBending):
    """Hinges with frozen lengths; the weight is k [J].

    PROJECTED and GAUSS_NEWTON keep k g g^T only.
    """

    name: str = "bend"

    rest_tables: ClassVar[Sequence[str] | None] = None
    kernels = FOLD_KERNELS
