"""Angles of triangles, which meshes of panels are held against."""

import numpy as np


def minimum_angles(corners):
    """Return (m,) the smallest angle [rad] of every triangle with corners (m,3,2) or (m,3,3)."""
    edge = np.roll(corners, -1, axis=1) - corners
    edge /= np.linalg.norm(edge, axis=2, keepdims=True)
    cosine = -(edge * np.roll(edge, 1, axis=1)).sum(-1)
    return np.asarray(np.arccos(np.clip(cosine, -1, 1)).min(1))
