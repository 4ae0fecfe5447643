"""Pictures without OpenGL: a z-buffer in Warp kernels, shading, PNG, MP4 and animated WebP.

Read ``picture`` first: ``Renderer`` draws one mesh at changing positions. ``style`` lists the
choices, ``looks`` the colorings, ``camera`` and ``motion`` the camera. ``drawn`` makes the
triangles of a picture (``smooth``, ``thick``, ``normals``), ``rasterize`` finds the face of every
pixel, ``shade`` colors it (``weave``), ``surroundings`` adds soft shadows. ``of_run`` draws runs,
with ``solids`` and ``strands`` for what is not cloth, ``sheet`` and ``video`` for several frames.
Garment patterns are drawn by ``pattern_sheet`` (PNG, with ``pen`` and ``arrange``) and
``pattern_svg``; ``piece`` draws a panel that no spline patch fits.
"""
