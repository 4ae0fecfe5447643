"""Rigid bodies that cloth moves.

Read ``settings`` (what a user gives), ``mass_properties`` (volume, center and second moments of a
closed mesh), ``affine_body`` (a body as four points), ``rigid_bodies`` (all bodies of a scene),
``rigidity`` (the energy that keeps frames rigid) and ``energies`` (all energies of the rigid bodies
of a scene).
"""
