"""Pictures of cloth: camera, shadow map, z-buffer, shading, legend; PNG and animated WebP."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import warp as wp
from numpy.typing import NDArray
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from weft import kernel
from weft.base.arrays import AnyArray, Faces, Floats, Ints, Positions
from weft.discretization.mesh import TriangleMesh
from weft.io.files import atomic_write
from weft.io.part_appearance import CLOTH, GRAY
from weft.kernel import WarpStruct
from weft.show import looks
from weft.show.framing import framed_vertices
from weft.show.looks import CHECKERS, LOOKS, Field, Scale, ShownFrame
from weft.show.picture.ambient_occlusion import Surroundings
from weft.show.picture.camera import Camera, CameraPath, frame_points
from weft.show.picture.drawing import RIM_TONE, Drawing
from weft.show.picture.paint import Paint
from weft.show.picture.rasterize import DepthBuffer, rasterize, rasterize_view, spread
from weft.show.picture.shade import (
    Light,
    ShadedSurface,
    ShadingCamera,
    SurroundingMap,
    shade_rows,
)
from weft.show.picture.style import Style as Style

SHADOW_SIZE, SOFT_SIZE = 640, 1024  # texels a side, at most
SHADOW_DETAIL = 2  # texels of the shadow map for a pixel along the picture's longer side
BARE = "checker"  # look of a mesh alone
NEARBY = 0.13  # of the cloth's size: radius of ambient occlusion
ROW_WORK = 4375.0  # matrix entries that take as long as a row of pixels
FLATNESS = 0.75  # flatness of shading with a color scale, whose colors must stay readable
Image = NDArray[np.uint8]  # (h,w,3), or (h,w,4) with alpha


def draw_legend(image: AnyArray, scale: Scale) -> AnyArray:
    """Return the picture (h,w,3) uint8 with title, color bar and five numbers at the lower
    right.
    """
    h, w = image.shape[:2]
    unit = max(10, h // 40)
    bar_w, bar_h = min(12 * unit, w // 2), unit
    picture = Pillow.fromarray(image)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=unit)
    left, top = w - bar_w - 2 * unit, h - 4 * unit
    title = f"{scale.title} [{scale.unit}]"
    begin = min(left, w - unit - int(font.getlength(title)))  # a long title begins further left
    draw.text((max(begin, unit), top - 1.5 * unit), title, fill=(40, 40, 40), font=font)
    ramp = scale.colors(np.linspace(scale.low, scale.high, bar_w))
    bar = np.repeat(np.round(255 * ramp).astype(np.uint8)[None], bar_h, axis=0)
    picture.paste(Pillow.fromarray(bar), (left, top))
    draw.rectangle((left - 1, top - 1, left + bar_w, top + bar_h), outline=(60, 60, 60))
    for i in range(5):
        value = scale.low + (scale.high - scale.low) * i / 4
        x = left + bar_w * i / 4
        draw.line((x, top + bar_h, x, top + bar_h + unit // 4), fill=(60, 60, 60))
        draw.text((x, top + 1.4 * bar_h), f"{value:g}", fill=(40, 40, 40), font=font, anchor="mt")
    return np.asarray(picture)


class Renderer:
    """Pictures of one mesh at changing positions, from one camera, with one color scale.

    Args:
        mesh: the cloth.
        frames: positions (n,3) [m] that camera, ground and color scale must suit.
        style: choices of the picture.
        marked: ids of faces to show in red.
        field: values to color the cloth by, in place of the style's look.
        body_faces: (k,3) faces of bodies, drawn in gray; their vertices follow the cloth's in all
            positions.
        loads: values of the look that the color scale must suit; None: those at ``frames``, which
            are computed from the mesh alone.
        paint: of the look ``surface``; None: the color of cloth.
        bodies: the vertices of each body among those of all bodies; None: there is one body.
        sharp: (k,2) vertices of edges at which the cloth has a kink; None: none.
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
        paint: Paint | None = None,
        bodies: Sequence[slice] | None = None,
        sharp: Ints | None = None,
    ) -> None:
        self.cloth, self.style = mesh, style or Style()
        self.mesh = mesh if body_faces is None else _with_bodies(mesh, body_faces, frames[0])
        self.marked, self.field, self.paint = marked, field, paint
        s, self.look = self.style, LOOKS[self.style.look or BARE]
        n = mesh.n_vertices
        framed: Ints = np.arange(len(frames[0]) if s.whole else n, dtype=np.int32)
        if s.whole is None and body_faces is not None:
            framed = framed_vertices(frames, n, body_faces, bodies or [slice(None)])
        points = np.concatenate([_hull_points(x[framed]) for x in frames])
        cloth = np.concatenate([_hull_points(x[:n]) for x in frames])
        size = float(np.ptp(cloth, axis=0).max()) or 1.0
        below = 0.002 if s.soft else 0.02
        self.ground = min(float(x[:, 1].min()) for x in frames) - below * size
        # The margin of ``frame_points`` leaves a little of the ground before and below the shot.
        aspect = s.width / s.height
        self.camera: Camera = frame_points(points, aspect, s.azimuth, s.elevation)
        if s.distance != 1.0:
            self.camera = self.camera.move_closer(s.distance, cloth)
        self.camera_path = CameraPath(s.motion, points, aspect) if s.motion else None
        self.scale = None
        if self.field is not None:
            self.scale = self.field.scale([x[:n] for x in frames])
        elif self.look.values is not None:
            suited = loads
            if suited is None:
                suited = np.concatenate([self._numbers(x) for x in frames])
            self.scale = self.look.scale(suited)
        own = None if paint is None else paint.thickness()
        thick = own if s.thickness is None else s.thickness
        self._drawn = Drawing(self.mesh, len(mesh.faces), n, s.smooth, thick, sharp)
        drawn, bodies_framed = self._drawn.n_cloth, framed[framed >= n] - n
        self._lit = np.concatenate([np.arange(drawn), drawn + bodies_framed])
        self._painted = None if paint is None else paint.surface(self._drawn.parent)
        self._faces = kernel.array(np.array(self._drawn.faces), wp.int32)
        self._uv = kernel.array(self._drawn.uv.astype(np.float32), wp.vec2f)
        self._seen = DepthBuffer.of(s.width * s.samples, s.height * s.samples)
        fine = SHADOW_DETAIL * max(s.width, s.height)
        self._texels = SOFT_SIZE if s.soft else min(SHADOW_SIZE, fine)
        self._shadow = DepthBuffer.of(self._texels, self._texels)
        self._around = Surroundings(s.width, s.height, NEARBY * size) if s.soft else None
        self._side = float(np.ptp(self.mesh.corner_uv.reshape(-1, 2), axis=0).max())
        self._values: Floats | None = None
        self._fixed_color = None if self.scale else self._colors(self.mesh.vertices)

    def image(
        self,
        x: Positions,
        values: Floats | None = None,
        dots: Positions | None = None,
        camera: Camera | None = None,
    ) -> Image:
        """Draw the picture at positions x.

        Args:
            x: (n,3) [m] positions of the cloth, and then of bodies.
            values: (n,) at the vertices of the cloth, in place of the field's.
            dots: (k,3) [m] points to mark.
            camera: in place of the renderer's.

        Returns:
            (h,w,3) uint8, or (h,w,4) with alpha.
        """
        s = self.style
        self._values = values
        x = np.asarray(x, dtype=np.float64)
        there, normal = self._drawn.at(x)
        camera = camera or self.camera
        rasterize_view(camera, there, self._drawn.faces, self._faces, self._seen)
        light, view = self._light(there), self._view(camera)
        surface, near = self._surface(x, there, normal), SurroundingMap()
        if self._around is not None:
            near = self._around.look(view, surface, light, there, self._seen)
        out = kernel.empty((s.height, s.width, 4 if s.transparent else 3), wp.uint8)
        kernel.launch(
            shade_rows,
            s.height,
            *(spread(s.height), view, surface, light, near, self._seen.face, out),
            work=ROW_WORK,
        )
        image: Image = np.array(kernel.numpy(out))
        if dots is not None:
            draw_dots(image, camera.project(dots, s.width, s.height))
        return draw_legend(image, self.scale) if self.scale else image

    def _numbers(self, x: Positions) -> Floats:
        """Return the numbers (n,) of the field, or of the look, at positions x of the cloth."""
        x = x[: self.cloth.n_vertices]
        if self.field is not None:
            return self.field.of(x)
        return self.look.numbers(ShownFrame(self.cloth, x))

    def _colors(self, x: Positions) -> Floats:
        """Return (M,3,3) the linear color of every drawn corner."""
        if self.scale is not None:
            values = np.zeros(self.mesh.n_vertices)
            values[: self.cloth.n_vertices] = (
                self._numbers(x) if self._values is None else self._values
            )
            srgb = self.scale.colors(self._drawn.values(values))[self._drawn.faces]
        elif self.look.name == "panels":
            srgb = looks.panel_colors(self.mesh)[self._drawn.parent]
        elif self.paint is not None:
            srgb = self.paint.colors(self._drawn.parent)
        else:
            code = CLOTH if self.marked is None else GRAY
            srgb = looks.uniform_color(len(self._drawn.faces), code)
        bodies = self._drawn.n_cloth_faces
        srgb = np.array(srgb)
        srgb[bodies:] = looks.uniform_color(len(srgb) - bodies, GRAY)
        if self.marked is not None:
            red = np.isin(self._drawn.parent, self.marked)
            srgb[red] = looks.uniform_color(int(red.sum()), looks.MARK)
        color = (srgb**2).astype(np.float32)
        if len(self._drawn.rims):
            color[self._drawn.rims] *= RIM_TONE
        return np.asarray(color)

    def _surface(self, x: Positions, there: Positions, normal: Floats) -> WarpStruct:
        color = self._colors(x) if self._fixed_color is None else self._fixed_color
        s, weave = ShadedSurface(), self.style.weave
        s.position = kernel.array(there.astype(np.float32), wp.vec3f)
        s.normal = kernel.array(normal.astype(np.float32), wp.vec3f)
        s.faces, s.uv = self._faces, self._uv
        s.color = kernel.array(color, wp.vec3f)
        checker = self.look.name == "checker" and self.marked is None and self.field is None
        s.cell = self._side / CHECKERS if checker else 0.0
        s.flatness = FLATNESS if self.scale is not None else 0.0
        s.woven_faces = self._drawn.n_cloth_faces
        if self._painted is not None:
            s.painted = self._painted
        if weave is not None:
            s.weave, s.yarns = weave.pattern.code, wp.vec2f(weave.ends, weave.picks)
        return s

    def _view(self, camera: Camera) -> WarpStruct:
        v = ShadingCamera()
        v.eye = wp.vec3f(*camera.eye)
        v.right, v.up, v.back = (wp.vec3f(*a) for a in camera.axes)
        v.tan_half, v.stretch, v.samples = camera.tan_half, camera.stretch, self.style.samples
        size = tuple(map(float, self._seen.face.shape[::-1]))
        v.size, v.center = wp.vec2f(*size), wp.vec2f(*camera.pixels(*size)[1])
        v.soft, v.transparent = int(self._around is not None), int(self.style.transparent)
        v.blur = self._around.blur if self._around is not None else 0.0
        return v

    def _light(self, x: Positions) -> WarpStruct:
        """Return the light, with its shadow map and the blurred shadow on the ground."""
        from scipy.ndimage import uniform_filter

        right = self.camera.axes[0]  # the light stays where it is if the camera moves
        basis = np.stack([right, [0.0, 1.0, 0.0], np.cross(right, [0.0, 1.0, 0.0])])
        towards = np.asarray(self.style.light) @ basis / np.linalg.norm(self.style.light)
        across = np.cross([0.0, 1.0, 0.0], towards)
        across /= np.linalg.norm(across)
        up = np.cross(towards, across)
        flat = np.stack([x @ across, x @ up, x @ towards], axis=1)
        # The map covers what is framed only, because bodies far from it cast no shadow on it.
        low, high = flat[self._lit].min(0), flat[self._lit].max(0)
        low[2], high[2] = flat[:, 2].min(), flat[:, 2].max()
        side = self._texels
        blur = side // 24
        texels = (side - 4 * blur) / max(float((high - low)[:2].max()), 1e-9)
        origin = 0.5 * (low + high)[:2] - 0.5 * side / texels
        points = np.stack([*((flat[:, :2] - origin) * texels).T, flat[:, 2] - low[2] + 1.0], axis=1)
        rasterize(points, self._drawn.faces, self._faces, self._shadow)
        cover = np.zeros((1, 1), dtype=np.float32)
        if self._around is None:
            cover = (kernel.numpy(self._shadow.face) >= 0).astype(np.float32)
            for _ in range(2):
                cover = uniform_filter(cover, blur)
        light = Light()
        light.direction = wp.vec3f(*towards)
        light.across, light.up = wp.vec3f(*across), wp.vec3f(*up)
        light.origin, light.texels_per_meter = wp.vec2f(*origin), texels
        light.offset = 1.0 - low[2]
        light.bias = 2.5 / texels
        light.ground, light.has_ground = self.ground, int(self.style.ground)
        light.shadow, light.cover = self._shadow.nearness, kernel.array(cover, wp.float32)
        return light


def draw_dots(image: Image, points: Floats) -> None:
    """Mark projected points (k,3) in an image, also those that are behind something.

    A dot that is alone is larger.
    """
    height, width, channels = image.shape
    radius = max(1, width // (640 if len(points) > 1 else 160))
    color = np.array([int(looks.CONTACT[i : i + 2], 16) for i in (0, 2, 4)] + [255])[:channels]
    for c, r in np.round(points[:, :2] - 0.5).astype(int).tolist():
        if radius <= r < height - radius and radius <= c < width - radius:
            image[r - radius : r + radius + 1, c - radius : c + radius + 1] = color


def save_png(path: str | Path, image: Image) -> None:
    """Write a PNG.

    Raises:
        RunError: the file cannot be written.
    """
    with atomic_write(path) as file:
        Pillow.fromarray(image).save(file, format="PNG", compress_level=4)


def save_webp(path: str | Path, images: Iterable[Image], fps: float) -> None:
    """Write an animated WebP that repeats forever.

    Raises:
        RunError: the file cannot be written.
    """
    pictures = [Pillow.fromarray(image) for image in images]
    # WebP has whole milliseconds. Times since the first picture are rounded, not durations, so
    # that rounding errors do not add up.
    ends = np.round(1000 / fps * np.arange(len(pictures) + 1)).astype(int)
    with atomic_write(path) as file:
        pictures[0].save(
            file,
            format="WEBP",
            save_all=True,
            append_images=pictures[1:],
            duration=np.maximum(np.diff(ends), 1).tolist(),
            loop=0,
            quality=80,
            method=2,
        )


def _with_bodies(mesh: TriangleMesh, body_faces: Faces, x: Positions) -> TriangleMesh:
    """Return the mesh of cloth and bodies.

    The corners of a body's face are within one square of the checker, so that it has one color.
    """
    if len(body_faces) == 0:
        return mesh
    corner = np.array([[0.0, 0.0], [1e-6, 0.0], [0.0, 1e-6]])
    uv = np.concatenate([mesh.corner_uv, np.broadcast_to(corner, (len(body_faces), 3, 2))])
    faces = np.concatenate([mesh.faces, body_faces + mesh.n_vertices])
    return TriangleMesh(x, faces, uv, {}, mesh.source, {}, mesh.regions)


def _hull_points(x: Positions) -> Floats:
    """Return extreme points of x in enough directions to frame it."""
    directions = np.random.default_rng(0).normal(size=(64, 3))
    score = x @ directions.T
    ids = np.unique(np.concatenate([score.argmax(0), score.argmin(0), x[:, 1:2].argmin(0)]))
    return np.asarray(x[ids])
