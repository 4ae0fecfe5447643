"""Bodies that a camera frames together with the cloth: a dressed person, but no floor."""

from collections.abc import Sequence

import numpy as np

from weft.base.arrays import Faces, Floats, Ints, Positions

LARGEST = 4.0  # size of cloth and body together over the size of the cloth
FLAT = 0.75  # part of its area from which on a body is flat, if so much faces one direction or back


def framed_vertices(
    frames: Sequence[Positions], n: int, faces: Faces, bodies: Sequence[slice]
) -> Ints:
    """Return the vertices that a camera frames: those of the cloth and of the bodies in the shot.

    A body is in the shot unless

    - the body is flat, as floors and walls are: 3/4 of its area faces one direction or back; or
    - cloth and body together are in some frame more than four times as large as the cloth in the
      frame where the cloth is largest. A large or distant body would make the cloth a dot.

    Args:
        frames: positions (n+b,3) [m] of the cloth, and then of all bodies.
        n: vertices of the cloth.
        faces: (m,3) of all bodies; they index the vertices of bodies.
        bodies: the vertices of each body.

    Returns:
        (k,) ids of vertices of ``frames``, in ascending order.
    """
    cloth = max(_size(x[:n]) for x in frames)
    body_ids = np.arange(len(frames[0]) - n)
    framed = [np.arange(n)]
    for own in bodies:
        ids = n + body_ids[own]
        of_body = np.isin(faces[:, 0], body_ids[own])
        if len(ids) == 0 or is_flat(frames[0][n:], faces[of_body]):
            continue
        together = max(_size(np.concatenate([x[:n], x[ids]])) for x in frames)
        if together <= LARGEST * cloth:
            framed.append(ids)
    return np.unique(np.concatenate(framed))


def is_flat(x: Positions, faces: Faces) -> bool:
    """Return whether most of the area of a surface faces one direction or back.

    Args:
        x: (n,3) [m].
        faces: (m,3).
    """
    a, b, c = (x[faces[:, i]] for i in range(3))
    normal = np.cross(b - a, c - a)  # as long as twice the area
    length = np.linalg.norm(normal, axis=1)
    normal = normal[length > 0] / np.sqrt(length[length > 0, None])
    return bool(np.linalg.eigvalsh(normal.T @ normal)[-1] > FLAT * length.sum())


def _size(x: Floats) -> float:
    """Return the largest extent of points (n,3) [m]."""
    return float(np.ptp(x, axis=0).max())
