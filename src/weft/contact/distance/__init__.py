"""Distances of points to triangles and of edges to edges, with all degenerate cases
(``distance``).
"""
