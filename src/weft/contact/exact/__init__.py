"""Exact predicates: orientation and intersections.

Read ``orientation`` first: it decides on which side of a plane a point lies, with floating point
numbers if these suffice, else with Python's integers. ``intersections`` finds intersecting
triangles with it, and ``intersection_check`` searches for intersections after every step.
"""
