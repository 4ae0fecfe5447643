"""The viewer of runs: one HTML page, by itself, from a server for browsers, and in notebooks.

Read ``run_view`` first (a run as the viewer sees it), then ``metric_curves``. The page is a single
file: ``page`` collects its data, ``packing`` compresses them, ``page_text`` makes its text, and
``notebook`` shows it in a notebook. ``followed_run`` is a run that grows while it is shown;
``server`` answers browsers, and ``run_server`` gives them the frames of a run.
"""
