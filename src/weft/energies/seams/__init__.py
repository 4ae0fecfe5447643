"""Seams of a garment: bonds that close them, hinges that fold them, and elastic bands.

Read in this order: ``sewing`` builds the energies of all seams, ``seam_hinges`` and ``patch_seams``
bend them (on triangles and on spline patches), and
``elastic_bands`` take in a seam or let it out. The bonds themselves are in
``energies.springs.bonds``. Before that, ``garment.cutting`` finds the pairs of vertices that a seam
joins, and ``scene.outfit`` says which of them become bonds.
"""
