"""Cameras as sensors of robots: color, depth, mask, normals and points of cloth and bodies.

All channels come from the z-buffer of pictures, so that what is hidden is not seen.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import AnyArray, Bools, Floats, Ints, Positions
from weft.base.errors import WeftError, check_known
from weft.bodies.body import Body, join_faces
from weft.discretization.mesh import TriangleMesh
from weft.show.picture.camera import Camera
from weft.show.picture.rasterize import DepthBuffer, rasterize_view
from weft.show.picture.renderer import Renderer
from weft.show.picture.style import Style


class Channel(NamedTuple):
    """A channel of a sensor: the shape, type and range of the numbers of a pixel."""

    size: tuple[int, ...]
    dtype: type
    low: float
    high: float


FARTHEST = 100.0  # [m] largest depth; a point farther away is not seen
CHANNELS: Mapping[str, Channel] = {
    "rgb": Channel((3,), np.uint8, 0, 255),
    "depth": Channel((), np.float32, 0.0, 2 * FARTHEST),
    "mask": Channel((), np.uint8, 0, 255),
    "normal": Channel((3,), np.float32, -1.0, 1.0),
    "point": Channel((3,), np.float32, -10 * FARTHEST, 10 * FARTHEST),
}
STEEPEST = np.radians(80.0)  # the steepest surface that Nguyen et al. measured
STEEP = np.radians(60.0)  # angle from which on the steepness matters


@dataclass(frozen=True)
class DepthNoise:
    """Noise of a depth camera, with the numbers of a Kinect (first version) as defaults.

    The standard deviation along the axis, for a surface at depth z whose normal is at an angle a to
    the axis, is constant + square (z - nearest)^2, and from 60 degrees on in addition
    steep / sqrt(z) (a / (pi/2 - a))^2. That across the axis is across + tilted a / (pi/2 - a)
    pixels: a pixel has the depth of the point seen so far beside it. Beyond 80 degrees, where
    nothing was measured, a is 80 degrees.

    Source: Nguyen, Izadi and Lovell 2012, "Modeling Kinect sensor noise for improved 3D
    reconstruction and tracking", 3DIMPVT, equations 1 to 3.
    """

    constant: float = 0.0012  # [m]
    square: float = 0.0019  # [1/m]
    nearest: float = 0.4  # [m]
    steep: float = 0.0001  # [m^1.5]
    across: float = 0.8  # [pixels]
    tilted: float = 0.035  # [pixels]

    def deviation(self, depth: Floats, angle: Floats) -> Floats:
        """Return the standard deviation [m] along the axis, for depths [m] and angles [rad]."""
        a = np.minimum(angle, STEEPEST)
        steep = np.where(a > STEEP, self.steep * (a / (np.pi / 2 - a)) ** 2, 0.0)
        level = self.constant + self.square * (depth - self.nearest) ** 2
        return np.asarray(level + steep / np.sqrt(np.maximum(depth, self.nearest)))

    def apply(self, depth: Floats, angle: Floats, random: np.random.Generator) -> Floats:
        """Return a noisy picture of depths (h,w) [m], 0 where nothing is seen.

        Args:
            depth: (h,w) [m], 0 where nothing is seen.
            angle: (h,w) [rad] of the normals to the camera's axis.
            random: of the noise; the same state gives the same noise.
        """
        a = np.minimum(angle, STEEPEST)
        lateral = self.across + self.tilted * a / (np.pi / 2 - a)
        rows, columns = np.indices(depth.shape)
        beside = np.rint(random.normal(size=(2, *depth.shape)) * lateral).astype(int)
        r = np.clip(rows + beside[0], 0, depth.shape[0] - 1)
        c = np.clip(columns + beside[1], 0, depth.shape[1] - 1)
        z = depth[r, c]
        noisy = z + self.deviation(z, angle[r, c]) * random.normal(size=depth.shape)
        return np.where(z > 0, np.maximum(noisy, 0.0), 0.0)


@dataclass(frozen=True, eq=False)
class CameraSensor:
    """A camera with the size of its pictures and the channels that it gives.

    Args:
        camera: pose and intrinsics.
        width, height: [pixels].
        channels: of ``CHANNELS``: ``rgb`` (h,w,3) uint8; ``depth`` (h,w) [m] along the axis, 0
            where nothing is seen; ``mask`` (h,w) uint8, 0 nothing, 1 cloth, from 2 on the bodies;
            ``normal`` (h,w,3) unit normals towards the camera, and ``point`` (h,w,3) [m], both in
            the world's axes, and zeros where nothing is seen.
        noise: of depth, and so of points; None: none.
        light: direction to the light, to the right, up and back of a level view along -z.

    Raises:
        WeftError: no such channel, or an impossible size.
    """

    camera: Camera
    width: int = 128
    height: int = 128
    channels: Sequence[str] = ("depth", "mask")
    noise: DepthNoise | None = None
    light: tuple[float, float, float] = Style.light

    def __post_init__(self) -> None:
        for name in self.channels:
            check_known(name, CHANNELS, "channel of a camera", WeftError)
        if not (16 <= self.width <= 8192 and 16 <= self.height <= 8192):
            got = f"{self.width} x {self.height}"
            raise WeftError("camera", got=got, expected="16 to 8192 pixels a side")


class CameraView:
    """The view of a sensor: one cloth and its bodies.

    Args:
        sensor: the sensor.
        mesh: the cloth.
        bodies: of the scene.
    """

    def __init__(self, sensor: CameraSensor, mesh: TriangleMesh, bodies: Sequence[Body]) -> None:
        if len(bodies) > 253:
            raise WeftError("bodies", got=len(bodies), expected="at most 253, for a mask of bytes")
        self.sensor = sensor
        solid = join_faces(bodies)
        self._faces = np.concatenate([mesh.faces, solid + mesh.n_vertices]).astype(np.int32)
        self._device_faces = kernel.array(self._faces, wp.int32)
        counts = [len(mesh.faces), *(len(body.faces) for body in bodies), 1]
        values = np.append(np.arange(1, len(counts)), 0)
        self._labels = np.repeat(values, counts).astype(np.uint8)
        self._seen = DepthBuffer.of(sensor.width, sensor.height)
        self._renderer: Renderer | None = None
        if "rgb" in sensor.channels:
            start = np.concatenate([mesh.vertices, *(body.at(0.0) for body in bodies)])
            wide, high, light = sensor.width, sensor.height, sensor.light
            style = Style(width=wide, height=high, azimuth=0.0, light=light, whole=False)
            drawn = solid if len(bodies) else None
            self._renderer = Renderer(mesh, [start], style, body_faces=drawn)

    def observe(
        self, x: Positions, random: np.random.Generator | None = None
    ) -> Mapping[str, AnyArray]:
        """Return the sensor's channels by name (see ``CameraSensor``).

        Args:
            x: (n,3) [m] positions of the cloth, and then of the bodies.
            random: of the noise; None: a generator with seed 0.
        """
        s, found = self.sensor, {}
        if self._renderer is not None:
            found["rgb"] = self._renderer.image(x, camera=s.camera)
        if set(s.channels) == {"rgb"}:
            return found
        rasterize_view(s.camera, x, self._faces, self._device_faces, self._seen)
        face = kernel.numpy(self._seen.face)
        depth = self._depths(face >= 0)
        if "mask" in s.channels:
            found["mask"] = self._labels[face]
        if "normal" in s.channels or s.noise is not None:
            normal = self._normals(x, face)
            if "normal" in s.channels:
                found["normal"] = normal.astype(np.float32)
            if s.noise is not None:
                angle = np.arccos(np.clip(np.abs(normal @ s.camera.axes[2]), 0.0, 1.0))
                depth = s.noise.apply(depth, angle, random or np.random.default_rng(0))
        if "depth" in s.channels:
            found["depth"] = depth.astype(np.float32)
        if "point" in s.channels:
            seen = (depth > 0)[..., None]
            found["point"] = np.where(seen, s.camera.unproject(depth), 0.0).astype(np.float32)
        return found

    def _depths(self, seen: Bools) -> Floats:
        """Return the depths (h,w) [m] of the buffer; 0 where nothing is seen."""
        nearness = kernel.numpy(self._seen.nearness).astype(np.float64)
        seen = seen & (nearness > 1 / FARTHEST)
        return np.divide(1.0, nearness, out=np.zeros(seen.shape), where=seen)

    def _normals(self, x: Positions, face: Ints) -> Floats:
        """Return the unit normals (h,w,3) of faces (h,w), towards the camera; 0 for no face."""
        a, b, c = (x[self._faces[:, i]] for i in range(3))
        normal = np.cross(b - a, c - a)
        away = np.einsum("mi,mi->m", normal, a - self.sensor.camera.eye) > 0
        normal[away] *= -1
        normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
        return np.append(normal, np.zeros((1, 3)), axis=0)[face]
