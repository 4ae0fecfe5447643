"""Rigid bodies, which forces and contacts move.

Read ``settings`` (the options of a user), ``mass_properties`` (volume, center and second moments of
a closed mesh), ``affine_body`` (a body as four points), ``rigid_bodies`` (all rigid bodies of a
scene), ``rigidity`` (the energy that keeps a body's shape) and ``energies`` (all energies of the
rigid bodies of a scene).
"""
