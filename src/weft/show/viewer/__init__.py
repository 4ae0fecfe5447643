"""The viewer of runs: one HTML page, by itself, from a server for browsers, and in notebooks.

Read ``run_view`` first (a run as the viewer sees it), then ``metric_curves``. The page is a single
file: ``page_content`` collects its data, ``packing`` compresses them, ``corners`` arranges the mesh
for graphics cards, ``page`` writes it, ``notebook`` shows it in a notebook. ``followed_run`` is a
run that grows while it is shown, and ``server`` gives its frames to browsers.
"""
