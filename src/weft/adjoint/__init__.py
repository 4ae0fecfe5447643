"""Derivatives of whole runs: of a loss of what a simulation does, by everything it was made from.

``step_back`` is the idea; ``lagged``, ``membranes``, ``air``, ``touching`` and ``slides`` are what
single terms of the potential take from the start of a step; ``forward`` keeps the run, ``directions``
are parameters, and ``adjoint`` puts them together.
"""

from weft.adjoint import air, membranes, touching

__all__ = ["air", "membranes", "touching"]  # they register what their terms pass back
