"""Loads on cloth: gravity, pressure and drag.

``gravity`` is a uniform field, ``pressure`` that of a constant pressure or a gas inside a closed
surface, and ``settling_drag`` a resistance on every mass that brings a garment to rest while it is
sewn. Forces of wind are in ``energies.air``.
"""
