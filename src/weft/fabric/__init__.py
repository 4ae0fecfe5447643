"""Fabrics: measured numbers in SI, their fields and units, and the presets (``weft.fabrics``)."""
