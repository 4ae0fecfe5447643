"""Elastic energies of cloth: membranes, bending, plasticity and strain limits.

Read in this order: ``membrane`` evaluates a law psi(F) at samples. ``hinge_bending`` (with
``hinge_kernels``: the angle, its gradient and Hessian), ``quadratic_bending`` (with
``quadratic_form``) and ``buckling_bending`` (with ``buckled_arc`` and ``pair_kernels``) are the
three bending models for triangles. ``condition`` and ``bend_condition`` are the energies of Baraff
& Witkin (1998). ``plasticity`` is the model of yielding that ``creases`` and ``permanent_stretch``
use; ``pressed_lines`` sets rest angles; ``strain_limit`` is a barrier on strain and bounds the
steps of a search (its law is ``laws.strain_limit``). ``damping`` and ``curvature_damping`` are
Rayleigh damping with the stiffness frozen per step. ``hinge_weights`` has derivatives of weights
by the rest shape.
"""
