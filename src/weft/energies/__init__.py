"""Energies E(x) of the potential: sums of local energies over stencils of vertices.

Read in this order: ``state`` and ``step`` (what a time step knows), ``energy`` and
``term`` (the interfaces), ``gather`` (how local Hessians are added to matrix rows),
``element_energy`` (energies given by kernels over elements). Then the chapters: ``elastic`` (cloth
itself), ``loads`` (gravity, pressure, drag), ``air`` (wind), ``springs`` (attachments and joints),
``seams`` (garments). ``inertia`` is the first term of every potential. ``numpy_energy`` runs
energies without kernels, ``embedded`` applies energies of vertices to control points,
``by_constants`` differentiates energies by their constants, ``step_cotangents`` has the derivatives
of a loss by the inputs of a step, and ``energy_per_vertex`` is a diagnostic for plots.
"""
