"""Identification of fabric numbers from laboratory measurements, photographs and motion capture.

One nonlinear least-squares problem is solved over all measurements of a fit file. Read in this
order:

- ``measurement``: the base of a measurement: model, residuals and their Jacobian.
- ``fit``: the Levenberg-Marquardt fit, its uncertainties, and weak directions.
- ``file``, ``block``, ``table``: fit files with the list of all kinds of measurement, and their
  data.
- ``value``, ``slopes``, ``tensile``, ``cantilever``, ``sheets``, ``drape``, ``silhouette``,
  ``track``, ``depth``: the kinds.
- ``drape_equilibrium``, ``outline``, ``photograph``, ``picture``, ``edges``, ``scene_run``:
  simulations and image processing that the slow kinds share.
- ``report``, ``plots``: the results as text, as a fabric file and as pictures.
"""
