"""Joints between rigid bodies: kinds, settings, motors, limits, and their energies.

Read ``kinds`` first: what each kind holds, and how it moves. ``settings`` and ``motors`` are the
options of a user, ``anchors`` the places that joints hold; ``energies`` and ``limit_energies``
build the terms of the potential.
"""
