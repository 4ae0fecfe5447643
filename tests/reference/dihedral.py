"""Dihedral angle by another route: the rotation about the edge that carries one face onto the
other's plane, as an angle between in-plane directions. No cross product of normals, no atan2 of
them."""

import numpy as np


def angle(x0, x1, x2, x3):
    """Signed angle of faces (x0,x1,x2) and (x1,x0,x3): arccos of the flaps, signed by a volume."""
    e = (x1 - x0) / np.linalg.norm(x1 - x0)
    a, b = x2 - x0, x3 - x0
    a, b = a - (a @ e) * e, b - (b @ e) * e  # flaps, at right angles to the edge
    opening = np.arccos(np.clip(a @ b / np.linalg.norm(a) / np.linalg.norm(b), -1, 1))
    volume = np.linalg.det(np.stack([x1 - x0, x2 - x0, x3 - x0]))
    return np.copysign(np.pi - opening, volume)
