"""Pictures, pages and the viewer of runs and patterns, without OpenGL on this machine.

``looks`` lists the colorings of cloth with their numbers and color scales. ``picture`` draws cloth
and runs as PNG, MP4 and WebP with Warp kernels, ``viewer`` shows runs in a browser, as a file to
mail or from a server, ``pattern`` draws garment patterns flat.
"""
