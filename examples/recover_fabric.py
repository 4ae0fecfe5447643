"""Fitting: how stiff a fabric is in bending and shear, from nothing but the shape of its drape."""

import numpy as np
from scipy.optimize import least_squares

import weft

NAMES = ["fabric.bending_warp", "fabric.bending_weft", "fabric.shear"]
NOISE = 1e-4  # [m] of the measured shape
true = weft.sheet(11, 11, 0.3, 0.3, fabric="linen")
cotton = weft.sheet(11, 11, 0.3, 0.3, fabric={"preset": "cotton", "density": "180 gsm"})  # weighed
flat = np.array(true.vertices)
beyond = np.maximum(np.linalg.norm(flat[:, [0, 2]], axis=1) - 0.09, 0)  # of the disk that holds it
still = weft.QuasiStaticSettings(1e-7, 1e-6, 2000, imperfection=0.0)


def draped(cloth, x):
    """The scene of its equilibrium, looked for from x (n,3)."""
    pin = weft.Pin(np.flatnonzero(beyond < 0.001))
    return weft.Scene(cloth.with_points(x), [pin], integrator="quasi_static", settings=still)


def shape(q, of=None):
    """(n,3) [m] of a drape, of fabric numbers exp(q)."""
    scene = of or guess.with_values(dict(zip(NAMES, np.exp(q)))).scene
    return weft.simulate(scene, frames=1, fps=1.0, progress=False).positions(1)


noise = np.random.default_rng(0).normal(size=flat.shape) * (beyond[:, None] > 0.001)
measured = NOISE * noise + shape(None, draped(true, flat - 0.15 * beyond[:, None] * [0, 1, 0]))
guess = weft.Adjoint(draped(cotton, measured), weft.adjoint.Mean(), NAMES, frames=1, fps=1.0)
start = np.log([float(guess.parameter(n).value) for n in NAMES])


def slopes(q):
    """Derivatives of the measured positions by the logarithms of the parameters."""
    scene = guess.with_values(dict(zip(NAMES, np.exp(q))))
    columns = [scene.tangent(n)[0][-1].reshape(-1) * np.exp(q[k]) for k, n in enumerate(NAMES)]
    return np.stack(columns, axis=1) / NOISE


found = least_squares(lambda q: ((shape(q) - measured) / NOISE).reshape(-1), start, slopes)
spread = np.sqrt(np.diag(np.linalg.inv(found.jac.T @ found.jac)))
for n, q, s, p in zip(NAMES, found.x, spread, start):
    value = getattr(true.fabric, n.split(".")[1])
    print(f"{n}: {np.exp(q):.4g} +- {100 * s:.1f} %, is {value:.4g}, began at {np.exp(p):.4g}")
