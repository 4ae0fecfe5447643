"""Perspective cameras, by pose and intrinsics, and motions over the frames of a run.

Pictures, sensors of robots and measurements of fits have the same camera. Pixel centers are at
halves: the first pixel's is (0.5, 0.5). A motion has keys with smooth interpolation; a turntable is
one of two keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from weft.base.arrays import Floats, Point, Positions
from weft.base.errors import WeftError

POSES = 36  # poses of the motion, in each of which all of the cloth must be in the picture

FIELD_OF_VIEW = np.radians(32.0)  # vertical; a portrait lens
NEAR = 1e-3  # [m] least depth of what a camera sees
MARGIN = 1.12  # size of the picture over the framed size


@dataclass(frozen=True, eq=False)
class Camera:
    """A perspective camera (a pinhole without distortion), for pictures of any resolution.

    Args:
        eye: (3,) [m].
        axes: (3,3) rows right, up and back (towards the eye).
        tan_half: tangent of half the vertical field of view.
        stretch: focal length along columns over that along rows, both in pixels.
        shift: (2,) of the principal point to the right of and below the picture's middle, in
            heights of the picture.
    """

    eye: Floats
    axes: Floats
    tan_half: float = float(np.tan(FIELD_OF_VIEW / 2))
    stretch: float = 1.0
    shift: tuple[float, float] = (0.0, 0.0)

    @staticmethod
    def from_opencv(intrinsics: Floats, extrinsics: Floats, width: int, height: int) -> "Camera":
        """Return the camera of matrices in OpenCV's convention.

        In that convention the camera's axes are right, down and forward, and the center of the
        first pixel is (0, 0).

        Args:
            intrinsics: (3,3) [pixels], without skew.
            extrinsics: (3,4) or (4,4), from the world to the camera [m].
            width, height: [pixels] of the picture.

        Raises:
            WeftError: a matrix of another shape, with skew, or without a rotation.
        """
        matrix, pose = np.asarray(intrinsics, float), np.asarray(extrinsics, float)
        if matrix.shape != (3, 3) or matrix[0, 1] or min(matrix[0, 0], matrix[1, 1]) <= 0:
            expected = "(3, 3): [[fx, 0, cx], [0, fy, cy], [0, 0, 1]], focal lengths above 0"
            raise WeftError("intrinsics", got=np.round(matrix, 3).tolist(), expected=expected)
        turn = pose[:3, :3]
        if pose.shape not in ((3, 4), (4, 4)) or not is_rotation(turn):
            got = np.round(pose, 3).tolist()
            raise WeftError("extrinsics", got=got, expected="(3, 4) or (4, 4), with a rotation")
        eye, axes = -turn.T @ pose[:3, 3], turn * [[1.0], [-1.0], [-1.0]]
        center = matrix[:2, 2] + 0.5
        return Camera(eye, axes).calibrate(np.diag(matrix)[:2], center, width, height)

    def calibrate(self, focal: Floats, center: Floats, width: int, height: int) -> "Camera":
        """Return this camera with focal lengths and principal point, both (2,) [pixels] along
        columns and rows of a picture of a width and height [pixels].
        """
        shift = ((center[0] - 0.5 * width) / height, (center[1] - 0.5 * height) / height)
        tan_half, stretch = 0.5 * height / focal[1], focal[0] / focal[1]
        return replace(self, tan_half=float(tan_half), stretch=float(stretch), shift=shift)

    def pixels(self, width: float, height: float) -> tuple[Floats, Floats]:
        """Return focal lengths (2,) and principal point (2,) [pixels] in a picture of a size."""
        focal = 0.5 * height / self.tan_half
        center = 0.5 * width + height * self.shift[0], 0.5 * height + height * self.shift[1]
        return np.array([self.stretch * focal, focal]), np.array(center)

    def move_closer(self, distance: float, points: Positions) -> "Camera":
        """Return this camera at a multiple of its distance from the middle of points (n,3) [m].

        It looks at that middle; a factor below 1 gives a close-up.
        """
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        far = float((self.eye - middle) @ self.axes[2])
        return replace(self, eye=middle + distance * far * self.axes[2])

    def project(self, x: Positions, width: int, height: int) -> Floats:
        """Return (n,3) pixel column, pixel row and 1/depth [1/m]; depth below a millimeter
        gives 0.
        """
        local = (x - self.eye) @ self.axes.T
        near = np.where(-local[:, 2] > NEAR, -local[:, 2], np.inf)
        focal, center = self.pixels(width, height)
        column = center[0] + focal[0] * local[:, 0] / near
        row = center[1] - focal[1] * local[:, 1] / near
        return np.stack([column, row, 1 / near], axis=1)

    def depths(self, x: Positions) -> Floats:
        """Return the depths (n,) [m] of points (n,3) [m] along the camera's axis."""
        return np.asarray((self.eye - x) @ self.axes[2])

    def unproject(self, depth: Floats) -> Positions:
        """Return (h,w,3) [m] the points seen by the pixels of a picture of depths (h,w) [m].

        Depths are measured along the camera's axis; a depth of 0 gives the eye.
        """
        focal, center = self.pixels(*depth.shape[::-1])
        rows, columns = np.indices(depth.shape) + 0.5
        right, down = (columns - center[0]) / focal[0], (rows - center[1]) / focal[1]
        rays = np.stack([right, -down, np.full_like(right, -1.0)], axis=2) @ self.axes
        return np.asarray(self.eye + depth[..., None] * rays)


def is_rotation(axes: Floats) -> bool:
    """Return whether the rows of a matrix are unit vectors at right angles, right-handed."""
    if axes.shape != (3, 3) or not np.isfinite(axes).all():
        return False
    return bool(np.abs(axes @ axes.T - np.eye(3)).max() < 1e-3 and np.linalg.det(axes) > 0)


def look_at(
    eye: Point, target: Point, up: Point = (0.0, 1.0, 0.0), field_of_view: float = 32.0
) -> Camera:
    """Return a camera at ``eye`` (3,) [m] that looks at ``target`` (3,) [m].

    Args:
        eye: (3,) [m].
        target: (3,) [m], in the middle of the picture.
        up: (3,) direction that is up in the picture.
        field_of_view: [degrees] from the picture's upper to its lower side.

    Raises:
        WeftError: the camera looks along ``up``, or nowhere.
    """
    back = np.subtract(eye, target, dtype=np.float64)
    right = np.cross(up, back)
    if np.linalg.norm(right) < 1e-9:
        raise WeftError("camera", got=f"a view along {up}", expected="another direction for `up`")
    axes = np.stack([right, np.cross(back, right), back])
    axes /= np.linalg.norm(axes, axis=1)[:, None]
    return Camera(np.asarray(eye, float), axes, float(np.tan(np.radians(field_of_view) / 2)))


def axes_of(azimuth: float, elevation: float) -> Floats:
    """Return (3,3) rows right, up and back of a camera that looks from a direction [degrees]."""
    a, e = np.radians(azimuth), np.radians(np.clip(elevation, -89.0, 89.0))
    back = np.array([np.sin(a) * np.cos(e), np.sin(e), np.cos(a) * np.cos(e)])
    right = np.cross([0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    return np.stack([right, np.cross(back, right), back])


def frame_points(points: Positions, aspect: float, azimuth: float, elevation: float) -> Camera:
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


@dataclass(frozen=True)
class Key:
    """Position of the camera at a frame.

    Args:
        frame: of the run.
        azimuth: [degrees] to the right of the front (+z); more than 360 goes around.
        elevation: [degrees] above the horizon.
        distance: 1 sees all of the cloth at every time of the motion; 0.5 is half as far.

    Raises:
        WeftError: a distance or elevation out of range.
    """

    frame: float
    azimuth: float
    elevation: float
    distance: float = 1.0

    def __post_init__(self) -> None:
        if not (0.02 <= self.distance <= 50 and -89 <= self.elevation <= 89):
            raise WeftError(
                "key of the camera",
                got=f"elevation {self.elevation:g}, distance {self.distance:g}",
                expected="an elevation of -89 to 89 degrees, a distance of 0.02 to 50",
            )


def read_keys(text: str) -> tuple[Key, ...]:
    """Read keys from text such as ``0:30,15,1 60:120,10,0.6``: frame:azimuth,elevation,distance.

    Raises:
        WeftError: another form, fewer than two keys, or frames that do not grow.
    """
    keys = []
    wanted = "FRAME:AZIMUTH,ELEVATION[,DISTANCE] twice or more, such as '0:30,15 60:120,10,0.6'"
    for word in text.split():
        frame, _, pose = word.partition(":")
        try:
            numbers = [float(number) for number in (frame, *pose.split(","))]
        except ValueError:
            numbers = []
        if not 3 <= len(numbers) <= 4:
            raise WeftError("camera", got=text, expected=wanted)
        keys.append(Key(*numbers))
    frames = [k.frame for k in keys]
    if len(keys) < 2 or any(b <= a for a, b in pairwise(frames)):
        raise WeftError("camera", got=text, expected=f"{wanted}; with increasing frames")
    return tuple(keys)


def turntable(
    frames: int, azimuth: float, elevation: float, turn: float, distance: float = 1.0
) -> tuple[Key, ...]:
    """Return the keys of a steady turn [degrees]; a full turn closes without a repeated frame."""
    last = frames if turn % 360 == 0 else max(frames - 1, 1)
    end = azimuth + turn
    return (Key(0, azimuth, elevation, distance), Key(last, end, elevation, distance))


class CameraPath:
    """Cameras by frame, all directed at one point.

    Args:
        keys: two or more.
        points: (n,3) [m] that are in the picture at a distance of 1, during all of the motion.
        aspect: width over height of the picture.
    """

    def __init__(self, keys: Sequence[Key], points: Positions, aspect: float) -> None:
        from scipy.interpolate import PchipInterpolator

        frames = [k.frame for k in keys]
        rows = [[k.azimuth, k.elevation, k.distance] for k in keys]
        # No overshoot between keys; two keys give a steady motion.
        self.pose = PchipInterpolator(frames, np.array(rows))
        self.first, self.last = frames[0], frames[-1]
        self.target: Floats = 0.5 * (points.min(axis=0) + points.max(axis=0))
        tan = Camera.tan_half / MARGIN
        local = points - self.target
        needed = 0.0
        for frame in np.linspace(self.first, self.last, POSES):
            azimuth, elevation, _ = self.pose(frame)
            right, up, back = (local @ a for a in axes_of(azimuth, elevation))
            reach = np.maximum(np.abs(right) / aspect, np.abs(up)) / tan + back
            needed = max(needed, float(reach.max()))
        self.far = max(needed, 1e-2)

    def camera(self, frame: float) -> Camera:
        """Return the camera at a frame; before the first key and after the last it rests."""
        azimuth, elevation, distance = self.pose(np.clip(frame, self.first, self.last))
        axes = axes_of(float(azimuth), float(elevation))
        return Camera(self.target + float(distance) * self.far * axes[2], axes)
