"""Fit of quadratic B-spline patches to meshes and panels (Meng et al. 2025, supplement).

``outline`` finds the border polygon and its four corners, ``fit_patch`` fits one patch (``mips``
makes its control net isometric), ``fit_mesh`` all pieces of a mesh, and ``lift`` places control
points in space.
"""
