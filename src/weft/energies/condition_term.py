"""Terms of conditions, whose damping the step of Baraff & Witkin (1998) assembles."""

from weft.base.errors import LawError
from weft.energies.step import Step
from weft.energies.term import Term
from weft.kernel import WarpArray
from weft.solve.newton.psd import Psd
from weft.solve.sparse.block_csr import BlockCsr


class ConditionTerm(Term):
    """A term that may be 1/2 k C^T C of conditions C."""

    damping = 0.0  # [s] time constant of its stiffness-proportional damping
    is_condition = False  # whether it is written in conditions

    def add_condition_hessian(
        self, x: WarpArray, step: Step, beta: float, psd: Psd, A: BlockCsr
    ) -> None:
        """Add k [(1 + beta/h) dC dC^T + (C + beta dC/dt) d2C] to A, with the step's velocity and h.

        Raises:
            LawError: an energy that is not written in conditions.
        """
        raise no_conditions(self)


def no_conditions(term: Term) -> LawError:
    """Return the error that a term is not written in conditions."""
    return LawError(
        f"damping of conditions of {term.name}",
        got="an energy that is not a condition",
        expected="the energy of a condition: stretch, shear or bend",
        hint="remove the name from Settings1998.damping",
    )
