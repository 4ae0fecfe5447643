"""One energy of several worlds, one after the other, where they differ in numbers alone.

Elements keep their order and their numbers, so what a kernel writes for one of them is, to the last
bit, what it writes in a world that is alone.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.discretization.samples import Samples
from weft.energies.base import Energy
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.loads.gravity import Gravity


def joined(energies: Sequence[Energy], n: int) -> Energy | None:
    """The energy of all worlds, whose n vertices each stand one after the other; None for kinds
    that have to be evaluated world by world, or that differ in more than numbers by element.
    """
    kind = type(energies[0])
    if kind not in _JOIN or any(
        type(e) is not kind or e.name != energies[0].name for e in energies
    ):
        return None
    found: Energy | None = _JOIN[kind](energies, n)
    return found


def _membranes(given: Sequence[Membrane], n: int) -> Membrane | None:
    """Samples alike in number, one law with parameters of its own for every sample."""
    first = given[0]
    parts = [[part.functions for part in e.law.parts] for e in given]
    if any(p != parts[0] or e.damping != first.damping for p, e in zip(parts, given)):
        return None
    if any(e.stencil.shape != first.stencil.shape for e in given):
        return None
    samples = Samples(
        _shifted([e.stencil for e in given], n),
        np.concatenate([e.samples.gradient for e in given]),
        np.concatenate([e.samples.weight for e in given]),
        n * len(given),
    )
    records = zip(*(e.records() for e in given))
    return Membrane(
        samples, first.law, tuple(np.concatenate(r) for r in records), first.name, first.damping
    )


def _hinges(given: Sequence[HingeBending], n: int) -> HingeBending | None:
    first = given[0]
    if any(e.damping != first.damping or e.hinges.shape != first.hinges.shape for e in given):
        return None
    return dataclasses.replace(
        first,
        hinges=_shifted([e.hinges for e in given], n),
        weight=np.concatenate([e.weight for e in given]),
        rest_angle=np.concatenate([e.rest_angle for e in given]),
        n_vertices=n * len(given),
    )


def _gravity(given: Sequence[Gravity], n: int) -> Gravity | None:
    """One field that is there from the beginning: worlds need not have the same time."""
    first = given[0]
    alike = all(tuple(e.acceleration) == tuple(first.acceleration) for e in given)
    if not alike or any(e.grows for e in given):
        return None
    return dataclasses.replace(first, mass=np.concatenate([e.mass for e in given]))


def _shifted(stencils: Sequence[Any], n: int) -> Any:
    return np.concatenate([s + np.int32(n * w) for w, s in enumerate(stencils)]).astype(np.int32)


_JOIN: dict[type, Any] = {Membrane: _membranes, HingeBending: _hinges, Gravity: _gravity}
