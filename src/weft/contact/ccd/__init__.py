"""Continuous collision detection: how far a step may go.

``conservative_advancement`` finds the largest step without a collision, ``planar_truncation``
shortens each vertex's direction until the whole of it may be taken, ``carry_along`` moves free
vertices out of the way of pins and bodies.
"""
