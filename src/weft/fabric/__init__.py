"""Fabrics: the measured numbers of a cloth in SI, and the presets (``weft.fabrics``).

Read ``fabric`` (the class, with the unit and bounds of every number), then ``file`` (fabrics that
are written as fields: presets, files, mappings). ``law`` is the membrane law of a fabric,
``arcsim`` and ``arcsim_file`` are tables of ARCSim, ``appearance`` is what a cloth looks like.
"""
