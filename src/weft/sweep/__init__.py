"""Sweeps: one scene, many values of its fields, a folder of runs on whatever machines there are.

A sweep file names a scene and a design (``design``, ``plan``); every sample of it has a folder of
its own (``folder``), in which one procedure (``sample``) leaves a run, measures of it and a status.
What is done and what is not is read from these folders alone, so that any engine (``engines``) may
stop at any instant, and another may go on.
"""
