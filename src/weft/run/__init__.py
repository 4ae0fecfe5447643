"""A simulation and its folder on disk.

``simulation`` is the loop: step, report, write, checkpoint. ``step_record`` is what one step leaves
on disk, ``resume`` opens a folder to go on with it, ``run`` is the object that users handle.
``animation`` and ``frame_export`` turn frames into files, ``garment_quality`` measures how a
garment sits, ``plausibility`` asks about scenes that are allowed but absurd, ``progress`` and
``notebook_progress`` show how far a simulation is.
"""
