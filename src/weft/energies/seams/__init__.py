"""Seams of a garment: what closes them, how they fold, and elastic bands in them.

``sewing`` builds the energies of all seams, ``seam_hinges`` and ``patch_seams`` bend them,
``seam_keyframes`` changes their numbers in time, ``elastic_bands`` take in a seam or let it out.
"""
