"""Exact predicates: signs of determinants in integers, orientation, and intersections.

``determinant_signs`` computes signs in integers of any size, ``orientation`` uses it where floating
point cannot decide, ``plane_filter`` discards triangles that a plane clearly separates,
``intersections`` finds intersecting triangles, and ``intersection_check`` applies it after every
step.
"""
