"""A picture of cloth: camera, shadow map, z-buffer, shading, legend; PNG and animated WebP."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import warp as wp

from weft import kernel
from weft.arrays import Faces, Floats, Ints, Positions
from weft.errors import WeftError, check_known
from weft.io.files import atomic_write
from weft.mesh import TriangleMesh
from weft.render import looks
from weft.render.camera import Camera, framing
from weft.render.legend import draw_legend
from weft.render.looks import Field, Look
from weft.render.rasterize import Buffer, rasterize, spread
from weft.render.shade import Light, Surface, View, shade_rows

SHADOW_SIZE = 640  # texels a side
ROWS_WORTH_SLICING = 16
FLATNESS = 0.75  # of color scales
CHECKERS = 16  # squares along the longer side of the cloth
TOWARDS_LIGHT = (-0.5, 0.75, 0.8)  # right, up and back of a camera that looks level

Image = np.ndarray[Any, np.dtype[np.uint8]]  # (h,w,3)


@dataclass(frozen=True)
class Style:
    """How a picture looks.

    Raises:
        WeftError: a size or number of samples out of range.
    """

    look: Look = Look.CHECKER
    width: int = 1280
    height: int = 720
    samples: int = 2  # per pixel and direction: 2 is 4 samples
    azimuth: float = 28.0  # [degrees] to the right of the front (+z)
    elevation: float = 14.0  # [degrees] above the horizon
    ground: bool = True
    whole: bool = False  # bodies belong into the picture, too

    def __post_init__(self) -> None:
        if not (16 <= self.width <= 8192 and 16 <= self.height <= 8192 and 1 <= self.samples <= 4):
            raise WeftError(
                "picture",
                got=f"{self.width} x {self.height}, {self.samples} samples",
                expected="16 to 8192 pixels a side, 1 to 4 samples",
            )


def look_named(name: str) -> Look:
    """A look by name.

    Raises:
        WeftError: an unknown name.
    """
    check_known(name, [k.value for k in Look], "look")
    return Look(name)


class Renderer:
    """Pictures of one mesh at changing positions, from one camera, with one color scale.

    Args:
        mesh: the cloth.
        frames: positions (n,3) [m] that camera (of the cloth), ground and color scale must suit.
        style: how it looks.
        marked: ids of faces to show in red.
        field: what to color the cloth by, in place of the style's look.
        body_faces: (k,3) faces of bodies, drawn in gray; their vertices follow the cloth's in all
            positions.
        loads: numbers that the color scale must suit, of looks that show what is given: pressures
            [Pa], distances from the body [mm].
    """

    def __init__(
        self,
        mesh: TriangleMesh,
        frames: Sequence[Positions],
        style: Style | None = None,
        marked: Ints | None = None,
        field: Field | None = None,
        body_faces: Faces | None = None,
        loads: Floats | None = None,
    ) -> None:
        self.cloth, self.style = mesh, style or Style()
        self.mesh = mesh if body_faces is None else _with_bodies(mesh, body_faces, frames[0])
        self.marked, self.field = marked, field or self._field_of_look()
        s = self.style
        shown = None if s.whole else mesh.n_vertices
        points = np.concatenate([_hull_points(x[:shown]) for x in frames])
        size = float(np.ptp(points, axis=0).max()) or 1.0
        self.ground = min(float(x[:, 1].min()) for x in frames) - 0.02 * size
        # A little of the ground before and below the cloth belongs into the picture.
        self.camera: Camera = framing(points, s.width / s.height, s.azimuth, s.elevation)
        n = mesh.n_vertices
        self.scale = self.field.scale([x[:n] for x in frames]) if self.field else None
        if self.field is None and self.style.look in looks.MEASURED:
            given = np.zeros(0) if loads is None else loads
            self.scale = looks.MEASURED[self.style.look](given)
        self._faces = kernel.array(np.array(self.mesh.faces), wp.int32)
        self._uv = kernel.array(self.mesh.corner_uv.astype(np.float32), wp.vec2f)
        self._seen = Buffer.of(s.width * s.samples, s.height * s.samples)
        self._shadow = Buffer.of(SHADOW_SIZE, SHADOW_SIZE)
        self._side = float(np.ptp(self.mesh.corner_uv.reshape(-1, 2), axis=0).max())
        self._values: Floats | None = None
        self._normals = Normals(self.mesh.faces, self.mesh.n_vertices)
        self._fixed_color = None if self.scale else self._colors(self.mesh.vertices)

    def image(
        self, x: Positions, values: Floats | None = None, dots: Positions | None = None
    ) -> Image:
        """The picture at positions x (n,3) [m].

        Args:
            x: positions.
            values: (n,) at the vertices of the cloth, in place of the field's.
            dots: (k,3) [m] points to mark.
        """
        s, n = self.style, self.style.samples
        self._values = values
        x = np.asarray(x, dtype=np.float64)
        points = self.camera.project(x, s.width * n, s.height * n)
        rasterize(points, self.mesh.faces, self._faces, self._seen)
        light, shadow, cover = self._light(x)
        out = kernel.empty((s.height, s.width, 3), wp.uint8)
        kernel.launch(
            shade_rows,
            s.height,
            *(
                spread(s.height),
                self._view(),
                self._surface(x),
                light,
                self._seen.face,
                shadow,
                cover,
                out,
            ),
            slice_above=ROWS_WORTH_SLICING,
        )
        image: Image = np.array(kernel.numpy(out))
        if dots is not None:
            draw_dots(image, self.camera.project(dots, s.width, s.height))
        return draw_legend(image, self.scale) if self.scale else image

    def _field_of_look(self) -> Field | None:
        """What strain and curvature looks show."""
        look, mesh = self.style.look, self.cloth
        if look is Look.STRAIN:
            return Field("largest principal strain", "%", partial(looks.strain, mesh), True)
        if look is Look.CURVATURE:
            return Field("mean curvature", "1/m", partial(looks.curvature, mesh), True)
        return None

    def _colors(self, x: Positions) -> Floats:
        """(m,3,3) linear color of every corner."""
        look, m = self.style.look, len(self.mesh.faces)
        n = self.cloth.n_vertices
        if self.scale is not None:
            values = np.zeros(self.mesh.n_vertices)
            if self._values is not None:
                values[:n] = self._values
            elif self.field is not None:
                values[:n] = self.field.of(x[:n])
            srgb = self.scale.colors(values)[self.mesh.faces]
        elif look is Look.PANELS:
            srgb = looks.panel_colors(self.mesh)
        else:
            srgb = looks.plain(m, looks.CLOTH if self.marked is None else looks.GRAY)
        if m > len(self.cloth.faces):
            srgb = np.array(srgb)
            srgb[len(self.cloth.faces) :] = looks.plain(m - len(self.cloth.faces), looks.GRAY)
        if self.marked is not None:
            srgb = np.array(srgb)
            srgb[self.marked] = looks.plain(len(self.marked), looks.MARK)
        return (srgb**2).astype(np.float32)

    def _surface(self, x: Positions) -> Any:
        color = self._colors(x) if self._fixed_color is None else self._fixed_color
        s = Surface()
        s.position = kernel.array(x.astype(np.float32), wp.vec3f)
        s.normal = kernel.array(self._normals(x).astype(np.float32), wp.vec3f)
        s.faces, s.uv = self._faces, self._uv
        s.color = kernel.array(color, wp.vec3f)
        checker = self.style.look is Look.CHECKER and self.marked is None and self.field is None
        s.cell = self._side / CHECKERS if checker else 0.0
        s.flatness = FLATNESS if self.scale is not None else 0.0
        return s

    def _view(self) -> Any:
        v = View()
        v.eye = wp.vec3f(*self.camera.eye)
        v.right, v.up, v.back = (wp.vec3f(*a) for a in self.camera.axes)
        v.tan_half, v.samples = self.camera.tan_half, self.style.samples
        return v

    def _light(self, x: Positions) -> tuple[Any, Any, Any]:
        """The light with its shadow map, and the blurred shadow on the ground."""
        from scipy.ndimage import uniform_filter

        right = self.camera.axes[0]
        basis = np.stack([right, [0.0, 1.0, 0.0], np.cross(right, [0.0, 1.0, 0.0])])
        towards = np.asarray(TOWARDS_LIGHT) @ basis / np.linalg.norm(TOWARDS_LIGHT)
        across = np.cross([0.0, 1.0, 0.0], towards)
        across /= np.linalg.norm(across)
        up = np.cross(towards, across)
        flat = np.stack([x @ across, x @ up, x @ towards], axis=1)
        cloth = flat[: self.cloth.n_vertices]  # what is far from it casts no shadow on it
        low, high = cloth.min(0), cloth.max(0)
        low[2], high[2] = flat[:, 2].min(), flat[:, 2].max()
        blur = SHADOW_SIZE // 24
        texels = (SHADOW_SIZE - 4 * blur) / max(float((high - low)[:2].max()), 1e-9)
        origin = 0.5 * (low + high)[:2] - 0.5 * SHADOW_SIZE / texels
        points = np.stack([*((flat[:, :2] - origin) * texels).T, flat[:, 2] - low[2] + 1.0], axis=1)
        rasterize(points, self.mesh.faces, self._faces, self._shadow)
        seen = self._shadow
        cover = (kernel.numpy(seen.face) >= 0).astype(np.float32)
        for _ in range(2):
            cover = uniform_filter(cover, blur)
        light = Light()
        light.direction = wp.vec3f(*towards)
        light.across, light.up = wp.vec3f(*across), wp.vec3f(*up)
        light.origin, light.texels_per_meter = wp.vec2f(*origin), texels
        light.offset = 1.0 - low[2]
        light.bias = 2.5 / texels
        light.ground, light.has_ground = self.ground, int(self.style.ground)
        return light, seen.nearness, kernel.array(cover, wp.float32)


def draw_dots(image: Image, points: Floats) -> None:
    """Mark projected points (k,3) in an image, through whatever covers them."""
    height, width, _ = image.shape
    radius = max(1, width // 640)
    color = np.array([int(looks.CONTACT[i : i + 2], 16) for i in (0, 2, 4)], dtype=np.uint8)
    for c, r in np.round(points[:, :2] - 0.5).astype(int).tolist():
        if radius <= r < height - radius and radius <= c < width - radius:
            image[r - radius : r + radius + 1, c - radius : c + radius + 1] = color


class Normals:
    """Vertex normals, weighted by area: a sparse product, faster than adding up by index."""

    def __init__(self, faces: Ints, n_vertices: int) -> None:
        from scipy.sparse import csr_matrix

        m = len(faces)
        rows = (np.ones(3 * m), np.ascontiguousarray(faces).reshape(-1), 3 * np.arange(m + 1))
        self.faces = faces
        self.sum = csr_matrix(rows, shape=(m, n_vertices)).T.tocsr()

    def __call__(self, x: Positions) -> Floats:
        """(n,3) unit normals at positions x (n,3); zero at isolated vertices."""
        a, b, c = (x[self.faces[:, i]].T for i in range(3))
        u, v = b - a, c - a
        normal = np.stack(
            [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]],
            axis=1,
        )
        total = self.sum @ normal
        length = np.sqrt(np.einsum("ni,ni->n", total, total))[:, None]
        return np.asarray(total / np.where(length > 0, length, 1.0))


def save_png(path: str | Path, image: Image) -> None:
    """Write a PNG.

    Raises:
        RunError: the file cannot be written.
    """
    from PIL import Image as Pillow

    with atomic_write(path) as file:
        Pillow.fromarray(image).save(file, format="PNG", compress_level=4)


def save_webp(path: str | Path, images: Iterable[Image], fps: float) -> None:
    """Write an animated WebP that repeats for ever.

    Raises:
        RunError: the file cannot be written.
    """
    from PIL import Image as Pillow

    pictures = [Pillow.fromarray(image) for image in images]
    with atomic_write(path) as file:
        pictures[0].save(
            file,
            format="WEBP",
            save_all=True,
            append_images=pictures[1:],
            duration=max(1, round(1000 / fps)),
            loop=0,
            quality=80,
            method=2,
        )


def _with_bodies(mesh: TriangleMesh, body_faces: Faces, x: Positions) -> TriangleMesh:
    """The cloth's mesh and the faces of bodies, within one square of the checker each."""
    if len(body_faces) == 0:
        return mesh
    corner = np.array([[0.0, 0.0], [1e-6, 0.0], [0.0, 1e-6]])
    uv = np.concatenate([mesh.corner_uv, np.broadcast_to(corner, (len(body_faces), 3, 2))])
    faces = np.concatenate([mesh.faces, body_faces + mesh.n_vertices])
    return TriangleMesh(x, faces, uv, source=mesh.source)


def _hull_points(x: Positions) -> Floats:
    """Extreme points of x in enough directions to frame it."""
    directions = np.random.default_rng(0).normal(size=(64, 3))
    score = x @ directions.T
    ids = np.unique(np.concatenate([score.argmax(0), score.argmin(0), x[:, 1:2].argmin(0)]))
    return np.asarray(x[ids])
