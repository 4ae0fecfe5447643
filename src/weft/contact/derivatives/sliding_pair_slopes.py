"""Derivatives of sliding pairs by the positions at which they are frozen: force, weights, plane.

With p the free parameters of the closest points (``contact.distance.distance``), t_k . v = 0 gives

    dp = -G^-1 c . dy,   dw = sum_k dw_k dp_k,   dv = w . dy + sum_a y_a dw_a,

and the normal, the two directions of sliding and the normal force follow from v.
"""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import AnyArray, Floats, Ints
from weft.contact.contact_set import ContactSet
from weft.contact.distance.distance import closest_of


@dataclass(frozen=True, eq=False)
class Slopes:
    """Derivatives by the twelve coordinates of every pair at the positions where it is frozen."""

    weights: Floats  # (m,4,12)
    load: Floats  # (m,12)
    t0: Floats  # (m,3,12)
    t1: Floats  # (m,3,12)

    def pull_back_frame(self, weights: Floats, load: Floats, t0: Floats, t1: Floats) -> Floats:
        """Return (m,4,3) from derivatives by weights (m,4), load (m,), t0 and t1 (m,3)."""
        out = np.einsum("ma,mad->md", weights, self.weights) + load[:, None] * self.load
        out += np.einsum("mi,mid->md", t0, self.t0) + np.einsum("mi,mid->md", t1, self.t1)
        return np.asarray(out.reshape(-1, 4, 3))


def slopes_of(contacts: ContactSet, y: Floats, push: Ints, slide: AnyArray) -> Slopes:
    """Compute the slopes of the pairs ``push``, frozen as ``slide`` at vertices y (n,3) [m]."""
    stencil, touch = contacts.stencil[push], contacts.touch[push]
    at = y[stencil]
    points = closest_of(y, stencil, touch["kind"])
    _, w, free, dw = points
    m = len(push)
    v = np.einsum("ma,mai->mi", w, at)
    t = np.einsum("mka,mai->mki", dw, at)
    by_w = np.zeros((m, 4, 12))
    for count in (1, 2):
        rows = np.flatnonzero(free == count)
        if len(rows):
            T, W = t[rows, :count], dw[rows, :count]
            c = np.einsum("mka,mi->mkai", W, v[rows]) + np.einsum("ma,mki->mkai", w[rows], T)
            inverse = np.linalg.inv(np.einsum("mki,mli->mkl", T, T))
            c = c.reshape(len(rows), count, 12)
            by_w[rows] = -np.einsum("mka,mkl,mld->mad", W, inverse, c)
    by_v = np.einsum("ma,ij->miaj", w, np.eye(3)).reshape(m, 3, 12)
    by_v = by_v + np.einsum("mai,mad->mid", at, by_w)
    length = np.linalg.norm(v, axis=1)
    n = v / length[:, None]
    by_n = (by_v - n[:, :, None] * np.einsum("mi,mid->md", n, by_v)[:, None]) / length[
        :, None, None
    ]
    g = contacts.gradient(y)[push]
    H = contacts.hessian(y)[push]  # (m,a,b,i,j)
    ww, load = (w * w).sum(1), np.asarray(slide["load"])
    by_load = np.einsum("mai,mi,mad->md", g, n, by_w)
    by_load += np.einsum("ma,mi,mabij->mbj", w, n, H).reshape(m, 12)
    by_load += np.einsum("ma,mai,mid->md", w, g, by_n)
    by_load = -(by_load + 2 * load[:, None] * np.einsum("ma,mad->md", w, by_w)) / ww[:, None]
    return Slopes(by_w, by_load, *_directions(n, by_n, np.asarray(slide["t0"])))


def _directions(n: Floats, by_n: Floats, t0: Floats) -> tuple[Floats, Floats]:
    """Return dt0 and dt1 (m,3,12) of t0 = (n x axis)/|n x axis| and t1 = n x t0."""
    axis, size = np.zeros_like(n), np.abs(n)
    second = (size[:, 1] < size[:, 0]) & (size[:, 1] <= size[:, 2])
    third = ~second & (size[:, 2] < size[:, 0]) & (size[:, 2] < size[:, 1])
    axis[np.arange(len(n)), np.where(second, 1, np.where(third, 2, 0))] = 1.0
    raw = np.linalg.norm(np.cross(n, axis), axis=1)
    by_raw = np.cross(by_n, axis[:, :, None], axis=1) / raw[:, None, None]
    by_t0 = by_raw - t0[:, :, None] * np.einsum("mi,mid->md", t0, by_raw)[:, None]
    by_t1 = np.cross(by_n, t0[:, :, None], axis=1) + np.cross(n[:, :, None], by_t0, axis=1)
    return by_t0, by_t1


def smoothed_friction(y: Floats, slide: AnyArray) -> tuple[Floats, Floats]:
    """Return f'/y and f'' at y >= 0, as in ``contact.friction.kernels.smoothed_friction``."""
    e, static = slide["smooth"], slide["mu_static"]
    drop = slide["mu_kinetic"] - static
    t = np.clip((y - e) / e, 0.0, 1.0)
    sliding = static + drop * t * t * (3 - 2 * t)
    inside, safe = y < e, np.maximum(y, 1e-300)
    over = np.where(inside, static * (2 / e - y / e**2), sliding / safe)
    second = np.where(inside, static * (2 / e - 2 * y / e**2), drop * 6 * t * (1 - t) / e)
    return over, second
