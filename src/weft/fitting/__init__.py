"""Identification of fabric numbers from laboratory measurements, photographs and motion capture.

One nonlinear least-squares problem is solved over all measurements of a fit file. Read in this
order:

- ``measurement``: the interface of a measurement: residuals and their Jacobian.
- ``fit``, ``identifiability``: the Levenberg-Marquardt fit, its uncertainties, and weak directions.
- ``file``, ``block``, ``points``, ``table``, ``columns``, ``noise``: reading of fit files and their
  data.
- ``kinds``: the list of all kinds of measurement. Each kind is one module: ``value``, ``ratio``,
  ``tensile``, ``shear``, ``bending``, ``cantilever``, ``fast``, ``kes``, ``cusick``, ``drape``,
  ``silhouette``, ``track``, ``depth``.
- ``drape_equilibrium``, ``drape_continuation``, ``outline``, ``picture``, ``scene_run``:
  simulations and image processing that the slow kinds share.
- ``report``, ``preset``, ``plots``: the results as text, as a fabric file and as pictures.
"""
