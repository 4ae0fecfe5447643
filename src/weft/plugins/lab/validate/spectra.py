"""Spectra of the laws: closed-form eigenvalues and clamps of random Hessians against LAPACK."""

import numpy as np

from weft.base.arrays import Floats
from weft.laws import (
    Arap,
    BaraffWitkin,
    DotShear,
    ImmediateBuckling,
    NeoHookean,
    Psd,
    SingleLaw,
    StVK,
    StvkShear,
    StvkStretch,
)
from weft.plugins.lab.validate.check import Check, Rows, attempt, compare, measure

TINY = 1e-12  # [N/m] stiffness of a fiber that is switched off
SKEW = {"warp": (1.0, 0.0), "weft": (0.6, 0.8)}
LAWS: dict[str, SingleLaw] = {
    "fiber": BaraffWitkin((300.0, TINY), 0.0),
    "shear": BaraffWitkin((TINY, TINY), 90.0),
    "fiber-skewed": BaraffWitkin((TINY, 300.0), 0.0, **SKEW),
    "shear-skewed": BaraffWitkin((TINY, TINY), 90.0, **SKEW),
    "dot-shear": DotShear(90.0),
    "stvk-fiber": StvkStretch((300.0, TINY)),
    "stvk-shear": StvkShear(90.0, **SKEW),
    "arap": Arap(300.0),
    "stvk": StVK(200.0, 150.0),
    "neo-hookean": NeoHookean(200.0, 150.0),
    "immediate-buckling": ImmediateBuckling((300.0, 200.0), (90.0, 60.0)),
}
SAMPLES, TOLERANCE = 2000, 1e-10


def checks() -> Rows:
    """Compare random Hessians; errors are relative to the largest eigenvalue."""
    F = np.random.default_rng(0).normal(size=(SAMPLES, 3, 2))
    for name, law in LAWS.items():
        yield from measure(f"spectra/clamp-{name}", 0.0, TOLERANCE, _clamp_error, law, F)
    yield from attempt("spectra/eigenvalues", _eigenvalues, F)


def _clamp_error(law: SingleLaw, F: Floats) -> float:
    H = law.hessian(F, Psd.EXACT)
    values, vectors = np.linalg.eigh(H)
    clamped = np.einsum("nij,nj,nkj->nik", vectors, np.maximum(values, 0), vectors)
    error = np.abs(law.hessian(F, Psd.PROJECTED) - clamped).max()
    return float(error / np.abs(values).max())


def _eigenvalues(F: Floats) -> Rows:
    """Compare closed-form eigenvalues: Kim 2020, eqs. 21-24, 34-35, 50 and 27-28."""
    for name in ("fiber", "shear", "shear-skewed"):
        law = LAWS[name]
        assert isinstance(law, BaraffWitkin)
        system = law.eigensystem(F)
        closed = system.warp.values if name == "fiber" else system.shear.values
        yield _against(f"spectra/eigenvalues-{name}", closed, law.hessian(F))
    s = np.linalg.svd(F, compute_uv=False)
    one = np.ones(len(F))
    arap = np.stack([1 - 1 / s[:, 0], 1 - 1 / s[:, 1], 1 - 2 / s.sum(1), one, one, one], axis=1)
    axes = ImmediateBuckling((300.0, 200.0), (0.0, 0.0))
    diagonals = ImmediateBuckling((TINY, TINY), (90.0, 60.0))
    closed = axes.eigensystem(F).axes.values
    yield _against("spectra/eigenvalues-buckling-axes", closed, axes.hessian(F))
    closed = diagonals.eigensystem(F).diagonals.values
    yield _against("spectra/eigenvalues-buckling-diagonals", closed, diagonals.hessian(F))
    yield _against("spectra/eigenvalues-arap", 300.0 * arap, LAWS["arap"].hessian(F))


def _against(name: str, closed: Floats, H: Floats) -> Check:
    values = np.linalg.eigvalsh(H)
    error = np.abs(np.sort(closed, axis=1) - values).max() / np.abs(values).max()
    return compare(name, 0.0, error, TOLERANCE)
