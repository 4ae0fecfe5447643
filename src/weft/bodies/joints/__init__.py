"""Joints between rigid bodies: settings, motors, limits, and the energies they become.

``settings`` and ``motors`` are what a user gives, ``anchors`` are the places that joints hold,
``energies`` and ``limit_energies`` build the terms of the potential.
"""
