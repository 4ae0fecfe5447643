"""Simulations and their run folders on disk.

Read ``simulation`` first: the loop that takes a step, reports it and writes frames and checkpoints.
``step_record`` converts a step into arrays, a line of metrics and the manifest. ``run_folder`` has
the files of a run: ``manifest``, ``metrics``, sealed arrays (``seal``); ``survey`` finds damage and
``resume`` opens a folder in order to continue it. Checkpoints are written by ``simulation`` through
``run_folder``, and atomically by ``weft.io.inside``. ``run`` is the ``Run`` object that users
handle, ``scene_interface`` what a simulation asks of a scene. ``animation`` and ``frame_export``
turn frames into files, ``frame_fields`` computes fields of a frame, ``frame_selection`` names
frames, ``strands`` draws ropes as tubes. ``garment_quality`` measures how a garment sits,
``plausibility`` warns about scenes that are allowed but absurd, ``progress`` and
``notebook_progress`` show how far a simulation is.
"""
