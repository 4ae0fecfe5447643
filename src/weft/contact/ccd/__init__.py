"""Continuous collision detection: how far a step may go.

Read ``conservative_advancement`` first: it finds the largest part of a step without a collision.
``planar_truncation`` shortens the direction of each vertex, so that all of the rest may be taken.
``carry_along`` moves free vertices out of the way of pins and bodies.
"""
