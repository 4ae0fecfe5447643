"""Fabrics: the measured numbers of a cloth in SI, and the presets (``weft.fabrics``).

Read ``fields`` (the fields with their units), ``fabric`` (the class, and how a fabric is read from
a preset, file or mapping), then ``values`` (how the value of one field is read).
"""
