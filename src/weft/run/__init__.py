"""Simulations and their run folders on disk.

Read ``simulation`` first: the loop that takes a step, reports it and writes frames and checkpoints.
``step_record`` converts a step into arrays, a line of metrics and the manifest; ``resume`` opens a
folder in order to continue it. ``run`` is the ``Run`` object that users handle.
``animation`` and ``frame_export`` turn frames into files, ``garment_quality`` measures how a
garment sits, ``plausibility`` warns about scenes that are allowed but absurd, ``progress`` and
``notebook_progress`` show how far a simulation is.
"""
