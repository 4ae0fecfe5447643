"""Viewers of runs: an HTML page, a server for browsers, a window, and notebooks.

Read ``run_view`` first (a run as viewers see it), then ``measures`` (numbers that are shown as
colors) and ``metric_curves``. The page is a single file: ``page_content`` collects its data,
``packing`` compresses them, ``corners`` arranges the mesh for graphics cards, ``page`` writes it,
``notebook`` shows it in a notebook. ``player`` is the state of a live viewer, which ``window``
(polyscope, with ``panel``) and ``web`` (viser, with ``sent``, ``textured`` and ``guard``) display.
"""
