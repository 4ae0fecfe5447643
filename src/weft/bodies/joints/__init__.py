"""Joints between rigid bodies: mechanisms, settings, motors, limits, and their energies.

Read ``mechanisms`` first: what each kind holds, and how it moves. ``settings`` and ``motors`` are
the options of a user, ``anchors`` the places that joints hold; ``energies`` and ``limit_energies``
build the terms of the potential.
"""
