"""Exact search for intersections.

``intersections`` finds intersecting triangles with the exact predicates of libigl, and
``intersection_check`` searches for intersections after every step.
"""
