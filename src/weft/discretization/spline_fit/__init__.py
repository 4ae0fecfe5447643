"""Fit of quadratic B-spline patches to meshes and panels (Meng et al. 2025, supplement).

Read it in this order: ``outline`` finds the border polygon of a piece and its four corners;
``fit_patch`` fits one patch, with ``mips`` to make its control net as isometric as possible;
``fit_mesh`` fits all pieces of a mesh and joins them; ``lift`` places the control points in space.
``patch_error`` is the error about a piece that no patch fits.
"""
