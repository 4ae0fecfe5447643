"""Joints between rigid bodies: settings, motors, limits, and their energies.

Read ``settings`` and ``motors`` (the options of a user), ``anchors`` (the places that joints hold),
then ``energies`` and ``limit_energies``, which build the terms of the potential.
"""
