"""Distances of points to triangles and of edges to edges, with all degenerate cases
(``distance``), and the mollifier of edges that are nearly parallel (``distance.mollifier``), by
which ``contact.barrier.barrier`` multiplies their barrier.
"""
