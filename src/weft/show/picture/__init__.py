"""Pictures of cloth: a z-buffer in Warp kernels, shading, PNG, MP4 and animated WebP.

Read ``renderer`` first: ``Renderer`` draws one mesh at changing positions. ``style`` lists the
choices, ``camera`` places and moves the camera. ``drawing`` makes the triangles of a picture
(``loop_subdivision``), ``rasterize`` finds the face of every pixel, ``shade`` colors it
(``weave``), ``ambient_occlusion`` adds soft shadows. ``run_picture`` draws runs, ``picture_sheet``
and ``video`` several frames, ``run_sheet`` several runs.
"""
