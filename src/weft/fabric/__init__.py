"""Fabrics: the measured numbers of a cloth in SI, and the presets (``weft.fabrics``).

Read ``fabric`` (the class, with the unit and bounds of every number), ``file`` (fabrics that are
written as fields: presets, files, mappings), then ``fields`` (the type of such a mapping).
"""
