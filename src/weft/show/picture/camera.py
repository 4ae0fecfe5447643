"""A perspective camera, and one that frames given points."""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Positions

FIELD_OF_VIEW = np.radians(32.0)  # vertical; a portrait lens
MARGIN = 1.12  # size of the picture over the framed size


@dataclass(frozen=True)
class Camera:
    """A perspective camera. ``axes`` has the rows right, up and back (towards the eye)."""

    eye: Floats  # (3,) [m]
    axes: Floats  # (3,3)
    tan_half: float = float(np.tan(FIELD_OF_VIEW / 2))  # of the vertical field of view

    def nearer(self, distance: float, points: Positions) -> "Camera":
        """Return this camera at a multiple of its distance from the middle of points (n,3) [m].

        It looks at that middle; a factor below 1 gives a close-up.
        """
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        far = float((self.eye - middle) @ self.axes[2])
        return Camera(middle + distance * far * self.axes[2], self.axes, self.tan_half)

    def project(self, x: Positions, width: int, height: int) -> Floats:
        """Return (n,3) pixel column, pixel row and 1/depth [1/m]; depth below a millimeter
        gives 0.
        """
        local = (x - self.eye) @ self.axes.T
        depth = -local[:, 2]
        near = np.where(depth > 1e-3, depth, np.inf)
        half = 0.5 * height / self.tan_half
        column = 0.5 * width + half * local[:, 0] / near
        row = 0.5 * height - half * local[:, 1] / near
        return np.stack([column, row, 1 / near], axis=1)


def axes_of(azimuth: float, elevation: float) -> Floats:
    """Return (3,3) rows right, up and back of a camera that looks from a direction [degrees]."""
    a, e = np.radians(azimuth), np.radians(np.clip(elevation, -89.0, 89.0))
    back = np.array([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)])
    right = np.cross([0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(back, right), back])


def framing(points: Positions, aspect: float, azimuth: float, elevation: float) -> Camera:
    """Return the nearest camera that sees all points, from a direction.

    Args:
        points: (n,3) [m].
        aspect: width over height of the picture.
        azimuth: [degrees] to the right of the front (+z).
        elevation: [degrees] above the horizon.
    """
    axes = axes_of(azimuth, elevation)
    local = points @ axes.T
    tan_up = np.tan(FIELD_OF_VIEW / 2) / MARGIN
    eye = np.zeros(3)
    needed = []
    for i, tan in ((0, tan_up * aspect), (1, tan_up)):
        # Rays of slope +-tan that touch the points meet where |p_i - eye_i| = tan (eye_z - p_z).
        high, low = (local[:, i] + tan * local[:, 2]).max(), (local[:, i] - tan * local[:, 2]).min()
        eye[i] = 0.5 * (high + low)
        needed.append((high - low) / (2 * tan))
    eye[2] = max(*needed, local[:, 2].max() + 1e-2)
    return Camera(eye @ axes, axes)
