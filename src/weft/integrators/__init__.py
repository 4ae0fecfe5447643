"""Time integrators and quasi-static equilibria, in the form of incremental potentials.

Each integrator gives a prediction y and a scale s; one shared minimizer (``solve.newton``) solves
the step. In the order of reading:

- ``base``: the class ``Integrator``, its settings and its report; then ``backward_euler`` and
  ``bdf2``, the two integrators that minimize to a tolerance.
- ``model``, ``assembly`` and ``potential``: what does not change in a simulation, its energies on
  one block pattern, and the potential Phi of one step.
- ``lagged_friction``: the outer loop of lagged friction.
- ``quasi_static`` and ``lagged_loads``: equilibria, and loads without a potential (wind, friction).
- ``linearized``, ``baraff_witkin_1998`` and ``semi_implicit_bdf2``: steps of one linear solve.
- ``adaptive``: divides a step that stretches the cloth too much. The length of an undivided step is
  that of the scene, by which ``run.drive`` divides a frame and halves a step that fails.
- ``feasible_start``: removes intersections from the start of a simulation; ``push_out`` pushes
  cloth out of bodies.
"""
