"""Assembly.

All energies of a model on one block pattern, with the arrays that every step reuses.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from weft import kernel
from weft.arrays import Floats
from weft.energies.base import Bound, BoundStepTerm, BoundUpdated, Energy, StepTerm
from weft.errors import SceneError
from weft.kernel import Scalar, WarpArray, vec3
from weft.laws.base import Psd
from weft.solve.block_csr import BlockCsr, BlockPattern
from weft.solve.updates import Update


@dataclass(frozen=True, eq=False)
class Assembly:
    """Bound energies. Built once per model; holds work arrays, so one step at a time may use it."""

    energies: Sequence[Energy]
    step_terms: Sequence[StepTerm]
    mass: Floats  # (n,) [kg]

    @property
    def n(self) -> int:
        """Number of vertices."""
        return len(self.mass)

    @cached_property
    def pattern(self) -> BlockPattern:
        """The union of all stencils."""
        return BlockPattern.of(self.n, [e.stencil for e in self.energies if e.stencil.shape[1] > 1])

    @cached_property
    def bound(self) -> dict[str, Bound]:
        """Bound energies by name."""
        return {e.name: e.bind(self.pattern) for e in self.energies}

    @cached_property
    def bound_step_terms(self) -> dict[str, BoundStepTerm]:
        """Bound step terms by name; each shares the maps of its source energy."""
        return {s.name: s.bind(self.pattern, self.bound[s.source.name]) for s in self.step_terms}

    @cached_property
    def matrix(self) -> BlockCsr:
        """The one matrix that is assembled into."""
        return BlockCsr.zeros(self.pattern)

    @cached_property
    def device_mass(self) -> WarpArray:
        """(n,) [kg]."""
        return kernel.array(self.mass, Scalar)

    def freeze(self, x: WarpArray, dt: float) -> None:
        """Start a step of dt [s] at positions x: step terms take what they need."""
        for term in self.bound_step_terms.values():
            term.freeze(x, dt)

    def terms(self, x: WarpArray) -> dict[str, float]:
        """[J] of every energy and step term at x."""
        return {name: b.value(x) for name, b in self._all().items()}

    def value(self, x: WarpArray) -> float:
        """[J] of all energies and step terms at x."""
        return sum(b.value(x) for b in self._all().values())

    def add_gradient(self, x: WarpArray, g: WarpArray) -> None:
        """g += dE/dx of everything."""
        for b in self._all().values():
            b.add_gradient(x, g)

    def hessian(
        self, x: WarpArray, psd: Psd, energies: Mapping[str, Bound] | None = None
    ) -> BlockCsr:
        """d2E/dx2 of everything, or of given energies, in ``matrix``: valid until the next call."""
        bound = list((self._all() if energies is None else energies).values())
        if not bound:
            self.matrix.values.zero_()
        for i, b in enumerate(bound):
            b.add_hessian(x, psd, self.matrix, clear=i == 0)
        return self.matrix

    def updates(self, x: WarpArray) -> list[Update]:
        """Dense parts of the Hessian, of rank one each, that no pattern holds."""
        found = []
        for b in self.bound.values():
            if isinstance(b, BoundUpdated):
                u = kernel.empty(self.n, vec3)
                c = b.update(x, u)
                if c > 0:
                    found.append(Update(c, u))
        return found

    def refuse_updates(self, x: WarpArray, integrator: str) -> None:
        """Raise a SceneError where the Hessian has dense parts, which one linear solve leaves out.

        Raises:
            SceneError: a gas.
        """
        if self.updates(x):
            raise SceneError(
                "gas pressure",
                got=f"with {integrator}",
                expected="backward_euler, bdf2 or quasi_static",
                hint="or a constant pressure",
            )

    def _all(self) -> dict[str, Bound]:
        return {**self.bound, **self.bound_step_terms}
