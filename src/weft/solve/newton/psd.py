"""Variants of the Hessian that a minimizer can ask for."""

import enum


class Psd(enum.IntEnum):
    """Exact second derivative, or a positive semi-definite matrix used in its place."""

    EXACT = 0  # the second derivative, indefinite under compression
    PROJECTED = 1  # negative eigenvalues set to zero (per energy term: see the law)
    GAUSS_NEWTON = 2  # terms with second derivatives of the strain measure dropped (Choi & Ko 2002)
