"""What is allowed but absurd: asked about in warnings, by name and number."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from weft.contact.body import Body
from weft.errors import shortened
from weft.fabric import UNITS, Fabric, known_ranges

ORDERS = 1e3  # beyond all presets: no cloth
COARSE = 0.05  # of the cloth's size: a tolerance that can be seen
JUMP = 0.3  # change of the largest stretch in one step that no cloth makes
LARGE = 2.0  # stretch at which nothing is cloth any more


def about_fabrics(fabrics: Iterable[Fabric]) -> Iterator[str]:
    """Fabrics three orders of magnitude off any that weft knows."""
    for made in fabrics:
        for name, unit in UNITS.items():
            value, (low, high) = getattr(made, name), known_ranges()[name]
            if value == 0 and low > 0 and name != "damping":
                yield f"fabric {made.name}: {name} is 0 {unit}; cloth has {low:.3g} to {high:.3g}"
            elif value > 0 and not low / ORDERS <= value <= high * ORDERS:
                yield (
                    f"fabric {made.name}: {name} = {value:.3g} {unit} is like no cloth "
                    f"({low:.3g} to {high:.3g}); is the unit right?"
                )


def about_bodies(bodies: Sequence[Body]) -> Iterator[str]:
    """Bodies of one shape in one place, with one motion."""
    alike: dict[object, list[str]] = {}
    for i, body in enumerate(bodies):
        key = (body.vertices.tobytes(), body.faces.tobytes(), repr(body.path), id(body.frames))
        alike.setdefault(key, []).append(f"{i} ({body.name})")
    for names in alike.values():
        if len(names) > 1:
            yield (
                f"bodies {shortened(names)}: {len(names)} of one shape in one place; one is enough"
            )


def about_tolerance(size: float, step: float, tolerance: float) -> Iterator[str]:
    """A tolerance [m/s] whose distance in a step [s] is large beside the cloth [m]."""
    if not tolerance * step > COARSE * size:
        return
    yield (
        f"the tolerance of {tolerance:g} m/s lets a step of {step:g} s end {tolerance * step:.2g}"
        f" m off, and the cloth is {size:.3g} m large: ask for about {1e-3 * size / step:.2g} m/s"
    )


def about_stretch(before: float, after: float, step: int) -> Iterator[str]:
    """A largest stretch that jumps in one step, or that no cloth has."""
    if not np.isfinite(after):
        yield f"step {step}: the stretch is {after}"
    elif after > 1 + JUMP and after - before > JUMP:
        yield (
            f"step {step}: the largest stretch went from {before:.3g} to {after:.3g} in one step; "
            "the step is too long for this stiffness: make `step` shorter, say `adaptive: {}`, or "
            "use `integrator: backward_euler`"
        )
    elif after > LARGE >= before:
        yield f"step {step}: cloth is stretched {after:.3g} times its length"
