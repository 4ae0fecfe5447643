"""Simulations and their run folders on disk.

Read ``drive`` first: it takes the steps of every simulation, and halves those that fail. Then read
``simulation``: the loop that reports a step and writes frames and checkpoints. ``run_state`` is the
state between two steps; ``step_record`` converts a step into a line of metrics, and a scene into
the manifest. ``run_folder`` says which file of a run holds what, in which order they are replaced,
and what a reader checks; frames and checkpoints are arrays with a checksum (``sealed_file``),
metrics an append-only log (``metrics_log``). ``recovery`` finds damage and opens a folder in order
to continue the run. ``run`` is the ``Run`` object that users handle, ``recorded_scene`` reads the
scene of a run from its manifest, ``sewing_order`` sews open seams earlier, ``check_scene`` is
behind ``weft check``. ``animation`` turns frames into the form that file writers take,
``frame_selection`` names frames, ``strands`` draws ropes as tubes. ``quality`` measures how cloth
sits, ``step_costs`` where the time of a run went, ``plausibility`` warns about scenes that are
allowed but absurd, ``progress`` shows how far a simulation is.
"""
