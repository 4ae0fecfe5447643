"""Batched energies: the energies of several worlds as one energy, if they differ in numbers only.

The worlds' elements stand one world after the other and keep their order and their numbers. So a
kernel computes for each element, to the last bit, what it computes in a world that is alone.
"""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from weft.base.arrays import Ints
from weft.discretization.samples import Samples
from weft.energies.base import Energy
from weft.energies.elastic.hinge_bending import HingeBending
from weft.energies.elastic.membrane import Membrane
from weft.energies.loads.gravity import Gravity
from weft.laws.base import sampled_law


def join_energies(energies: Sequence[Energy], n: int) -> Energy | None:
    """Return one energy for all worlds, or None.

    None is returned for kinds of energies that have to be evaluated world by world, and for
    energies that differ in more than numbers by element.

    Args:
        energies: of one kind, one per world.
        n: vertices of each world; the worlds' vertices stand one world after the other.
    """
    kind = type(energies[0])
    if kind not in _JOIN or any(
        type(e) is not kind or e.name != energies[0].name for e in energies
    ):
        return None
    found: Energy | None = _JOIN[kind](energies, n)
    return found


def _membranes(given: Sequence[Membrane], n: int) -> Membrane | None:
    """Join membranes with equal numbers of samples and the same law; parameters may differ."""
    first = given[0]
    parts = [[part.functions for part in e.law.parts] for e in given]
    if any(p != parts[0] or e.damping != first.damping for p, e in zip(parts, given)):
        return None
    if any(e.stencil.shape != first.stencil.shape for e in given):
        return None
    samples = Samples(
        _offset_stencils([e.stencil for e in given], n),
        np.concatenate([e.samples.gradient for e in given]),
        np.concatenate([e.samples.weight for e in given]),
        n * len(given),
    )
    records = zip(*(e.records() for e in given))
    law = sampled_law(first.law, [np.concatenate(r) for r in records])
    return Membrane(samples, law, first.name, first.damping)


def _hinges(given: Sequence[HingeBending], n: int) -> HingeBending | None:
    """Join hinge energies with equal numbers of hinges and the same damping."""
    first = given[0]
    if any(e.damping != first.damping or e.hinges.shape != first.hinges.shape for e in given):
        return None
    return dataclasses.replace(
        first,
        hinges=_offset_stencils([e.hinges for e in given], n),
        weight=np.concatenate([e.weight for e in given]),
        rest_angle=np.concatenate([e.rest_angle for e in given]),
        n_vertices=n * len(given),
    )


def _gravity(given: Sequence[Gravity], n: int) -> Gravity | None:
    """Join gravity with one acceleration.

    Gravity that grows in time is refused, because worlds need not have the same time.
    """
    first = given[0]
    alike = all(tuple(e.acceleration) == tuple(first.acceleration) for e in given)
    if not alike or any(e.grows for e in given):
        return None
    return dataclasses.replace(first, mass=np.concatenate([e.mass for e in given]))


def _offset_stencils(stencils: Sequence[Ints], n: int) -> Ints:
    """Concatenate stencils with the vertex numbers of world w raised by n w."""
    return np.concatenate([s + np.int32(n * w) for w, s in enumerate(stencils)]).astype(np.int32)


_JOIN: dict[type, Callable[..., Energy | None]] = {
    Membrane: _membranes,
    HingeBending: _hinges,
    Gravity: _gravity,
}
