"""Ambient occlusion and soft shadows of a picture, from its depths and the shadow map.

Both are computed for every 2 x 2 pixels, without random numbers, and averaged over 4 x 4 of these
places. Openness is the integral over the visible hemisphere, weighted by the cosine, of the depths
of the picture (Jimenez, Wu, Pesce & Jarabo 2016, "Practical realtime strategies for accurate
indirect occlusion", eqs. 7 and 10): 1 on a plane, 1/2 at the foot of a high wall. The lamp's shadow
widens with the distance from the object that casts it (Fernando 2005, "Percentage-closer soft
shadows").
"""

import warp as wp

from weft import kernel
from weft.base.arrays import Positions
from weft.kernel import DataType, FloatArray2d, IntArray2d, WarpStruct
from weft.show.picture.rasterize import DepthBuffer, spread
from weft.show.picture.shade import (
    Light,
    ShadedSurface,
    ShadingCamera,
    SurroundingMap,
    barycentric_hit,
    facing_normal,
    ray,
)

_module = wp.get_module("weft.surroundings")
vec2f: DataType = wp.vec2f
vec3f: DataType = wp.vec3f

COARSE = 2  # pixels per side of a place, which share openness and light
SLICES, STEPS = 2, 5  # per place: directions, and steps along both ways of each
LEVEL = 0.06  # sine of an elevation that does not count: facets differ from the smooth surface
SEARCHED, LAMP_POINTS = 10, 14  # texels in the search for occluders, and in the shadow itself
LAMP = 0.09  # radius of the lamp over its distance
STEEPEST = 3.0  # largest slope of a receiver for which the shadow map is corrected
NOTHING = 1.0e30  # depth of pixels that show nothing
# cosine and sine of the golden angle between successive lamp points
COS, SIN = -0.7373688, 0.6754903
PI = 3.14159265
ROW_WORK = 4375.0  # matrix entries that take as long as a row of pixels


@wp.kernel(module=_module)
def depth_rows(
    o: int,
    spread: int,
    view: ShadingCamera,
    light: Light,
    nearness: FloatArray2d,
    face: IntArray2d,
    depths: FloatArray2d,
):
    """Compute the depth [m] at the middle of every place of a row, also of the ground."""
    r = ((o + wp.tid()) * spread) % depths.shape[0]
    n = COARSE * view.samples
    for c in range(depths.shape[1]):
        y = wp.min(r * n + n // 2, face.shape[0] - 1)
        x = wp.min(c * n + n // 2, face.shape[1] - 1)
        depth = float(NOTHING)
        if face[y, x] >= 0:
            depth = 1.0 / nearness[y, x]
        elif light.has_ground != 0:
            d = ray(float(x) + 0.5, float(y) + 0.5, view)
            if d[1] < -1.0e-6:
                depth = wp.max((light.ground - view.eye[1]) / d[1], 1.0e-3)
        depths[r, c] = depth


@wp.func
def place_ray(r: int, c: int, view: ShadingCamera):
    """Return the ray through the sample whose depth a place has."""
    n = COARSE * view.samples
    x = wp.min(float(c * n + n // 2) + 0.5, view.size[0] - 0.5)
    y = wp.min(float(r * n + n // 2) + 0.5, view.size[1] - 0.5)
    return ray(x, y, view)


@wp.struct
class PicturePlace:
    """A place of the picture, and the point that it shows."""

    r: int
    c: int
    phase: int  # 0 to 15, by which the directions of neighboring places differ
    depth: float  # [m]
    p: vec3f
    n: vec3f  # unit normal


@wp.struct
class OcclusionBounds:
    """The extent of ambient occlusion."""

    radius: float  # [m]
    low: vec3f  # corners of the box of cloth and bodies [m]
    high: vec3f


@wp.func
def horizon(
    place: PicturePlace,
    v: vec3f,
    dx: float,
    dy: float,
    reach: float,
    start: float,
    lowest: float,
    radius: float,
    view: ShadingCamera,
    depths: FloatArray2d,
):
    """Return the cosine, from the direction v of the eye, of the highest place along a
    direction.
    """
    high = lowest
    for k in range(STEPS):
        t = (float(k) + start) / float(STEPS)
        length = 1.0 + (reach - 1.0) * t * t
        cc = place.c + int(wp.round(dx * length))
        rr = place.r + int(wp.round(dy * length))
        inside = rr >= 0 and cc >= 0 and rr < depths.shape[0] and cc < depths.shape[1]
        if inside:  # noqa: SIM102 - Warp may evaluate both sides of an `and`
            if depths[rr, cc] < NOTHING:
                d = place_ray(rr, cc, view)
                q = view.eye + depths[rr, cc] * d - place.p
                far = wp.length(q)
                if wp.dot(q, place.n) > LEVEL * far:
                    fade = wp.clamp(1.0 - (far * far) / (radius * radius), 0.0, 1.0)
                    high = wp.max(high, wp.lerp(lowest, wp.dot(q, v) / far, fade))
    return high


@wp.func
def openness(place: PicturePlace, radius: float, view: ShadingCamera, depths: FloatArray2d):
    """Return the share of the cosine-weighted hemisphere about the normal that is open."""
    rows = float(depths.shape[0])
    reach = wp.min(0.5 * rows * radius / (view.tan_half * place.depth), rows)
    if reach < 2.0:
        return 1.0
    v = wp.normalize(view.eye - place.p)
    total = float(0.0)
    whole = float(0.0)
    start = (float((place.phase * 7) % 16) + 0.5) / 16.0
    for k in range(SLICES):
        angle = (float(k) + (float(place.phase) + 0.5) / 16.0) * (PI / float(SLICES))
        dx = wp.cos(angle)
        dy = wp.sin(angle)
        way = dx * view.right - dy * view.up
        axis = wp.normalize(wp.cross(way, v))
        along = wp.normalize(way - wp.dot(way, v) * v)
        m = place.n - wp.dot(place.n, axis) * axis
        share = wp.length(m)
        if share > 1.0e-6:
            tilt = wp.acos(wp.clamp(wp.dot(m, v) / share, 0.0, 1.0))
            if wp.dot(along, m) < 0.0:
                tilt = -tilt
            low1 = wp.cos(tilt + 0.5 * PI)
            low0 = wp.cos(tilt - 0.5 * PI)
            c1 = horizon(place, v, dx, dy, reach, start, low1, radius, view, depths)
            c0 = horizon(place, v, -dx, -dy, reach, start, low0, radius, view, depths)
            h1 = wp.min(wp.acos(wp.clamp(c1, -1.0, 1.0)), tilt + 0.5 * PI)
            h0 = wp.max(-wp.acos(wp.clamp(c0, -1.0, 1.0)), tilt - 0.5 * PI)
            arc = 2.0 * wp.cos(tilt) + 2.0 * (h0 + h1) * wp.sin(tilt)
            arc = arc - wp.cos(2.0 * h1 - tilt) - wp.cos(2.0 * h0 - tilt)
            total += share * arc
            # The same integral of an empty plane: the ratio is exactly 1 on a plane, although
            # there are so few directions.
            whole += 4.0 * share * (wp.cos(tilt) + tilt * wp.sin(tilt))
    return wp.clamp(total / wp.max(whole, 1.0e-6), 0.0, 1.0)


@wp.func
def lamp_share(place: PicturePlace, light: Light, widest: float):
    """Return the share of the lamp that the point of a place sees."""
    n = place.n
    facing = wp.dot(n, light.direction)
    if facing < -0.2:
        return 0.0
    p = place.p + light.bias * n
    x = (wp.dot(p, light.across) - light.origin[0]) * light.texels_per_meter
    y = (wp.dot(p, light.up) - light.origin[1]) * light.texels_per_meter
    size = float(light.shadow.shape[0])
    margin = wp.min(wp.min(x, size - x), wp.min(y, size - y)) / (0.03 * size)
    if margin <= 0.0:
        return 1.0
    near = wp.dot(p, light.direction) + light.offset + 0.5 * light.bias
    # A plane with normal n rises towards the light by so much a texel.
    steep = 1.0 / (wp.max(facing, 0.05) * light.texels_per_meter)
    limit = STEEPEST / light.texels_per_meter
    gx = wp.clamp(-wp.dot(n, light.across) * steep, -limit, limit)
    gy = wp.clamp(-wp.dot(n, light.up) * steep, -limit, limit)
    angle = float(place.phase) * (2.0 * PI / 16.0)
    way = vec2f(wp.cos(angle), wp.sin(angle))
    reach = widest * light.texels_per_meter
    found = float(0.0)
    rise = float(0.0)
    for k in range(SEARCHED):
        t = (float(k) + 0.5) / float(SEARCHED)
        q = reach * t * t
        dx = q * way[0]
        dy = q * way[1]
        way = vec2f(way[0] * COS - way[1] * SIN, way[0] * SIN + way[1] * COS)
        cc = wp.clamp(int(wp.floor(x + dx)), 0, light.shadow.shape[1] - 1)
        rr = wp.clamp(int(wp.floor(y + dy)), 0, light.shadow.shape[0] - 1)
        above = light.shadow[rr, cc] - near - gx * dx - gy * dy
        # An occluder at this height stands in the way of the lamp only if it is in its cone.
        if above > 0.0 and above * LAMP * light.texels_per_meter > 0.5 * q - 1.5:
            found += 1.0
            rise += above
    if found == 0.0:
        return 1.0
    blur = wp.clamp(LAMP * rise / found * light.texels_per_meter, 1.0, reach)
    hits = float(0.0)
    for k in range(LAMP_POINTS):
        q = blur * wp.sqrt((float(k) + 0.5) / float(LAMP_POINTS))
        dx = q * way[0]
        dy = q * way[1]
        way = vec2f(way[0] * COS - way[1] * SIN, way[0] * SIN + way[1] * COS)
        cc = wp.clamp(int(wp.floor(x + dx)), 0, light.shadow.shape[1] - 1)
        rr = wp.clamp(int(wp.floor(y + dy)), 0, light.shadow.shape[0] - 1)
        if light.shadow[rr, cc] > near + gx * dx + gy * dy:
            hits += 1.0
    return 1.0 - hits / float(LAMP_POINTS) * wp.min(margin, 1.0)


@wp.kernel(module=_module)
def look_rows(
    o: int,
    spread: int,
    view: ShadingCamera,
    surface: ShadedSurface,
    light: Light,
    bounds: OcclusionBounds,
    face: IntArray2d,
    depths: FloatArray2d,
    raw: wp.array2d(dtype=vec2f),
):
    """Compute openness, and the share of the lamp, at the middle of every place of a row."""
    r = ((o + wp.tid()) * spread) % depths.shape[0]
    n = COARSE * view.samples
    for c in range(depths.shape[1]):
        found = vec2f(1.0, 1.0)
        if depths[r, c] < NOTHING:
            d = place_ray(r, c, view)
            y = wp.min(r * n + n // 2, face.shape[0] - 1)
            x = wp.min(c * n + n // 2, face.shape[1] - 1)
            f = face[y, x]
            place = PicturePlace()
            place.r = r
            place.c = c
            place.phase = ((r & 3) * 4 + (c & 3) * 5) & 15
            place.depth = depths[r, c]
            place.p = view.eye + place.depth * d
            place.n = vec3f(0.0, 1.0, 0.0)
            if f >= 0:
                place.n = facing_normal(f, barycentric_hit(f, d, view, surface), d, surface)
            open = float(1.0)
            off = wp.max(bounds.low - place.p, place.p - bounds.high)
            if wp.max(wp.max(off[0], off[1]), off[2]) < bounds.radius:
                open = openness(place, bounds.radius, view, depths)
            found = vec2f(open, lamp_share(place, light, 0.5 * bounds.radius))
        raw[r, c] = found


@wp.kernel(module=_module)
def blur_rows(
    o: int,
    spread: int,
    tolerance: float,
    depths: FloatArray2d,
    raw: wp.array2d(dtype=vec2f),
    out: wp.array2d(dtype=vec2f),
):
    """Average over 4 x 4 places of similar depth, which have each of the 16 phases once."""
    r = ((o + wp.tid()) * spread) % depths.shape[0]
    for c in range(depths.shape[1]):
        total = vec2f(0.0, 0.0)
        weight = float(0.0)
        depth = depths[r, c]
        for i in range(-2, 2):
            for j in range(-2, 2):
                rr = wp.clamp(r + i, 0, depths.shape[0] - 1)
                cc = wp.clamp(c + j, 0, depths.shape[1] - 1)
                if wp.abs(depths[rr, cc] - depth) <= 4.0 * tolerance:
                    total += raw[rr, cc]
                    weight += 1.0
        out[r, c] = total / wp.max(weight, 1.0)


class Surroundings:
    """Ambient occlusion and soft shadows for one size of picture, with their memory.

    Args:
        width, height: of the picture.
        radius: [m] of ambient occlusion.
    """

    def __init__(self, width: int, height: int, radius: float) -> None:
        shape = (-(-height // COARSE), -(-width // COARSE))
        self.radius = radius
        self.blur = 0.05 * radius  # [m] tolerance in depth
        self.raw, self.near = kernel.empty(shape, vec2f), SurroundingMap()
        self.near.depths = kernel.empty(shape, wp.float32)
        self.near.shares = kernel.empty(shape, vec2f)

    def look(
        self,
        view: WarpStruct,
        surface: WarpStruct,
        light: WarpStruct,
        x: Positions,
        seen: DepthBuffer,
    ) -> WarpStruct:
        """Return depths (h/2,w/2) [m], and (h/2,w/2,2) openness and share of the lamp, in 0 to 1.

        Args:
            view, surface, light: of the picture.
            x: (N,3) [m] all drawn vertices.
            seen: its z-buffer.
        """
        bounds = OcclusionBounds()
        bounds.radius = self.radius
        bounds.low, bounds.high = wp.vec3f(*x.min(axis=0)), wp.vec3f(*x.max(axis=0))
        near, face = self.near, seen.face
        self._launch(depth_rows, view, light, seen.nearness, face, near.depths)
        self._launch(look_rows, view, surface, light, bounds, face, near.depths, self.raw)
        self._launch(blur_rows, self.blur, near.depths, self.raw, near.shares)
        return near

    def _launch(self, by_row: wp.Kernel, *arguments: object) -> None:
        rows = self.near.depths.shape[0]
        kernel.launch(by_row, rows, spread(rows), *arguments, work=ROW_WORK)
