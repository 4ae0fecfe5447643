"""Derivatives of measurements by differences."""

import numpy as np

from weft.plugins.lab.fitting.measurement import scale_field


def difference_jacobian(measurement, f, fields, step=1e-4):
    """Of residuals by the logarithms of fields, by central differences."""
    moved = lambda field, s: measurement.residuals(scale_field(f, field, np.exp(s)))  # noqa: E731
    return np.stack([(moved(x, step) - moved(x, -step)) / (2 * step) for x in fields], axis=1)
