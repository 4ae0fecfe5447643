"""Disturb the start of every simulation as rounding would.

Another processor, number of threads or linear solver rounds otherwise, by some 1e-16 in every
operation. Where a verdict hangs on that, it hangs as well on start positions that differ by 1e-13
of their coordinates. ``pytest --disturb 1e-13 --disturb-seed 2`` runs every test so.

Run the numerical folders with two or three seeds after a change of a solver or of the scene of a
test. Run them once with ``MKL_CBWR=COMPATIBLE``, with which MKL rounds differently, and once
without pypardiso: ``import sys; sys.modules["pypardiso"] = None`` in a ``sitecustomize.py`` on
``PYTHONPATH``. If a verdict changes, choose a scene that does not start at a kink (cloth along an
edge of a body, a law at its corner), or widen the tolerance by the spread over 20 seeds.
"""

import dataclasses
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

import numpy as np

from weft.integrators.model import Model

SIZE = 1e-13  # of every coordinate; a thousand operations round by about as much


@cache
def noise(seed, shape):
    """Uniform in [-1, 1]; the same for the same seed and shape, so that bits can be compared."""
    return np.random.default_rng([seed, *shape]).uniform(-1.0, 1.0, shape)


@contextmanager
def disturbed(seed: int, size: float = SIZE) -> Iterator[None]:
    """Multiply the positions from which a step begins at t = 0 by 1 + ``size`` times noise.

    Zeros stay zeros, as they do in rounding. Every step and equilibrium is planned by
    ``Model.step``; what moves with the positions there (prediction, origin of the velocity) moves
    as far. A plan with an origin but without a prediction evaluates forces at given positions: it
    is left alone.
    """
    plan = Model.step

    def step(self, state, dt, predicted=None, scale=None, rate=None, past=None):
        if state.t == 0.0 and (rate is None or predicted is not None):
            change = size * noise(seed, state.x.shape) * state.x
            state = dataclasses.replace(state, x=state.x + change)
            predicted = None if predicted is None else predicted + change
            rate = None if rate is None else (rate[0] + change, rate[1])
        return plan(self, state, dt, predicted, scale, rate, past)

    Model.step = step
    try:
        yield
    finally:
        Model.step = plan
