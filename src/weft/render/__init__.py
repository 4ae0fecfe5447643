"""Pictures without OpenGL: a z-buffer in kernels, shaded PNG and animated WebP."""
