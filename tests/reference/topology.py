"""On which side: integers that no continuous motion without crossings changes."""

import numpy as np


def solid_angle(corners, p):
    """[sr] signed solid angle of triangles (m,3,3) together, seen from p. Van Oosterom & Strackee
    1983.
    """
    a, b, c = np.moveaxis(corners - p, 1, 0)
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    dot = lambda u, v: np.einsum("mi,mi->m", u, v)  # noqa: E731
    low = la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb
    return 2 * np.arctan2(dot(a, np.cross(b, c)), low).sum()


def windings(x, faces, flat, points):
    """(k,) how often a sheet, closed by where its border spans it flat, winds around points (k,3).

    An integer: 0 outside of the bag that the sheet x (n,3) and the surface ``flat`` (n,3) of the
    same faces make, and +-1 inside. Both have the same border.
    """
    now, then = x[faces], flat[faces]
    found = [(solid_angle(now, p) - solid_angle(then, p)) / (4 * np.pi) for p in points]
    np.testing.assert_allclose(found, np.round(found), atol=1e-6)
    return np.round(found).astype(int)


def linking(a, b):
    """Linking number of closed polygons (k,3) and (l,3): Gauss' integral, exact for each pair of
    segments (Klenin & Langowski 2000, eqs. 15-16).
    """
    p, q = a[:, None], np.roll(a, -1, axis=0)[:, None]
    r, s = b[None], np.roll(b, -1, axis=0)[None]
    sides = [r - p, s - p, s - q, r - q]
    n = [np.cross(sides[k], sides[(k + 1) % 4]) for k in range(4)]
    n = [v / np.maximum(np.linalg.norm(v, axis=2, keepdims=True), 1e-300) for v in n]
    cosine = [np.clip((n[k] * n[(k + 1) % 4]).sum(2), -1, 1) for k in range(4)]
    sign = np.sign((np.cross(s - r, q - p) * (r - p)).sum(2))
    found = (sign * sum(np.arcsin(c) for c in cosine)).sum() / (4 * np.pi)
    np.testing.assert_allclose(found, np.round(found), atol=1e-6)
    return round(found)
