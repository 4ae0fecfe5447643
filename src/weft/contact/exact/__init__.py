"""Exact predicates: signs of determinants in integers, orientation, and intersections.

Read ``orientation`` first: it decides on which side of a plane a point lies, with floating point
numbers if these suffice, else with ``determinant_signs`` in integers of any size. ``intersections``
finds intersecting triangles with it, after ``plane_filter`` has discarded triangles that a plane
clearly separates. ``intersection_check`` searches for intersections after every step.
"""
