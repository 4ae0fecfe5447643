"""Discretizations of cloth: linear triangles and quadratic B-spline patches.

Both produce ``Samples`` (module ``samples``): the quadrature points of a membrane law, with the
vertices or control points that each depends on and the gradients of their shape functions. Read it
in this order:

1. ``mesh``, ``linear_triangle``: triangle meshes and their samples.
2. ``surface``, ``triangles``, ``embedding``, ``compound_surface``: the interface of a piece of
   cloth, the triangles that are drawn and that collide, and a whole cloth of several pieces.
3. ``basis``, ``bspline``, ``quadrature``, ``spline_surface``, ``patch_triangulation``: splines
   (Meng et al. 2025).
4. ``spline_fit``: spline patches for meshes and garment panels. ``polygon`` has functions for flat
   outlines, ``connectivity`` numbers what is connected.
"""
