"""Elastic energies of cloth: membranes, bending, plasticity and strain limits.

``membrane`` evaluates a law psi(F) at samples. ``hinge_bending``, ``quadratic_bending`` and
``buckling_bending`` are the three bending models for triangles; ``condition`` and
``bend_condition`` are the energies of Baraff & Witkin (1998). ``creases`` and ``permanent_stretch``
yield (``plasticity``), ``pressed_lines`` sets rest angles, ``strain_limit`` is a barrier on strain,
``damping`` and ``curvature_damping`` are Rayleigh damping with the stiffness frozen per step.
"""
