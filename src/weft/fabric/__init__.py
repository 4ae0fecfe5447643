"""Fabrics: the measured numbers of a cloth in SI, and the presets (``weft.fabrics``).

Read ``fabric`` (the class, with the unit and bounds of every number), then ``file`` (fabrics that
are written as fields: presets, files, mappings). ``appearance`` is what a cloth looks like.
"""
