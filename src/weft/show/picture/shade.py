"""Shading of a z-buffer: smooth two-sided shading, checker or given colors, shadows, antialiasing.

Shadows fall on cloth and ground; antialiasing averages samples. Colors are linear in the
computation, and written with gamma 2.
"""

import warp as wp

from weft.kernel import DataType, FloatArray2d, IntArray2d, Vec3fArray, Vec3fArray2d
from weft.show.picture.fabric_look import highlight
from weft.show.picture.paint import PaintedSurface, has_back, paint, sheen_of
from weft.show.picture.weave import weave_factor

_module = wp.get_module("weft.shade")
vec2f: DataType = wp.vec2f
vec3f: DataType = wp.vec3f
mat33f = wp.mat33f


@wp.struct
class Light:
    """The key light, its shadow map, and the ground."""

    direction: vec3f  # towards the light
    across: vec3f  # axes of the shadow map
    up: vec3f
    origin: vec2f  # of the map, in its axes [m]
    texels_per_meter: float
    offset: float  # [m] added to a height above the light's plane to give the map's nearness
    bias: float  # [m] by which an occluder must be nearer
    ground: float  # height [m]
    has_ground: int
    shadow: FloatArray2d  # nearness to the light of the shadow map
    cover: FloatArray2d  # share of the ground's light that the cloth takes, blurred


@wp.struct
class ShadingCamera:
    """The camera, with options of the shading."""

    eye: vec3f
    right: vec3f
    up: vec3f
    back: vec3f
    tan_half: float
    stretch: float
    center: vec2f  # principal point [samples]
    size: vec2f  # samples across and down
    samples: int  # per pixel and direction
    soft: int  # 1: openness and light are given by place (``SurroundingMap``)
    transparent: int
    blur: float  # [m] difference in depth within which pixels share openness and light


@wp.struct
class ShadedSurface:
    """The surface of cloth and bodies."""

    position: Vec3fArray
    normal: Vec3fArray
    faces: IntArray2d
    uv: wp.array2d(dtype=vec2f)  # (m,3) [m]
    color: Vec3fArray2d  # (m,3) linear
    cell: float  # [m] side of a checker square; 0: none
    flatness: float  # 0: shaded, 1: the color alone; color scales must stay readable
    weave: int  # pattern; 0: none
    yarns: vec2f  # ends and picks per meter
    woven_faces: int  # the first so many faces are cloth
    painted: PaintedSurface  # in the look ``surface``


@wp.struct
class SurroundingMap:
    """Depth, openness and light of every place of a picture, for soft shadows."""

    depths: FloatArray2d  # [m]
    shares: wp.array2d(dtype=vec2f)  # openness, and light of the lamp


@wp.func
def lit_share(p: vec3f, light: Light):
    """Return the share of the key light that reaches p, from 3 x 3 samples of the shadow map."""
    x = (wp.dot(p, light.across) - light.origin[0]) * light.texels_per_meter
    y = (wp.dot(p, light.up) - light.origin[1]) * light.texels_per_meter
    near = wp.dot(p, light.direction) + light.offset + light.bias
    c = int(wp.floor(x))
    r = int(wp.floor(y))
    hits = float(0.0)
    for i in range(-1, 2):
        for j in range(-1, 2):
            rr = r + i
            cc = c + j
            inside = rr >= 0 and cc >= 0
            inside = inside and rr < light.shadow.shape[0] and cc < light.shadow.shape[1]
            if inside:  # noqa: SIM102 - Warp may evaluate both sides of an `and`
                if light.shadow[rr, cc] > near:
                    hits += 1.0
    return 1.0 - hits / 9.0


@wp.func
def soft_shadow(p: vec3f, light: Light):
    """Return the blurred share of light that the cloth takes from a point of the ground,
    bilinear.
    """
    x = (wp.dot(p, light.across) - light.origin[0]) * light.texels_per_meter - 0.5
    y = (wp.dot(p, light.up) - light.origin[1]) * light.texels_per_meter - 0.5
    c = int(wp.floor(x))
    r = int(wp.floor(y))
    if r < 0 or c < 0 or r + 1 >= light.cover.shape[0] or c + 1 >= light.cover.shape[1]:
        return 0.0
    s = x - float(c)
    t = y - float(r)
    top = light.cover[r, c] * (1.0 - s) + light.cover[r, c + 1] * s
    low = light.cover[r + 1, c] * (1.0 - s) + light.cover[r + 1, c + 1] * s
    return top * (1.0 - t) + low * t


@wp.func
def ray(column: float, row: float, view: ShadingCamera):
    """Return the direction through a point of the picture; its component along -back is 1."""
    s = 2.0 * view.tan_half / view.size[1]
    across = (column - view.center[0]) * s / view.stretch
    return across * view.right + (view.center[1] - row) * s * view.up - view.back


@wp.func
def surrounding_shares(x: int, y: int, depth: float, view: ShadingCamera, near: SurroundingMap):
    """Return openness and light at the point of a sample.

    They are interpolated bilinearly between neighboring places of similar depth; if there are none,
    those of the place with the nearest depth are taken.
    """
    n = float(2 * view.samples)
    s = (float(x) - float(view.samples)) / n
    t = (float(y) - float(view.samples)) / n
    c = int(wp.floor(s))
    r = int(wp.floor(t))
    s = s - float(c)
    t = t - float(r)
    total = vec2f(0.0, 0.0)
    weights = float(0.0)
    found = vec2f(1.0, 1.0)
    least = float(3.0e38)
    for i in range(2):
        for j in range(2):
            rr = wp.clamp(r + i, 0, near.depths.shape[0] - 1)
            cc = wp.clamp(c + j, 0, near.depths.shape[1] - 1)
            off = wp.abs(near.depths[rr, cc] - depth)
            here = near.shares[rr, cc]
            if off < least:
                least = off
                found = here
            if off < view.blur:
                w = (1.0 - wp.abs(s - float(j))) * (1.0 - wp.abs(t - float(i))) + 1.0e-4
                total += w * here
                weights += w
    if weights > 0.0:
        return total / weights
    return found


@wp.func
def wall(d: vec3f):
    """Return the color of a studio, in which the ground fades into the wall."""
    height = 0.5 + 0.5 * d[1] / wp.length(d)
    return wp.lerp(vec3f(0.70, 0.71, 0.73), vec3f(0.86, 0.88, 0.92), height)


@wp.func
def ground_shadow(
    x: int, y: int, d: vec3f, view: ShadingCamera, light: Light, near: SurroundingMap
):
    """Return the share of light that the ground lacks where a ray from the eye meets it."""
    if light.has_ground == 0 or d[1] >= -1.0e-6:
        return 0.0
    t = (light.ground - view.eye[1]) / d[1]
    if t <= 0.0:
        return 0.0
    if view.soft != 0:
        s = surrounding_shares(x, y, t, view, near)
        return 1.0 - (0.5 + 0.5 * s[0]) * (0.5 + 0.5 * s[1])
    return 0.62 * soft_shadow(view.eye + t * d, light)


@wp.func
def barycentric_hit(f: int, d: vec3f, view: ShadingCamera, surface: ShadedSurface):
    """Return the barycentric coordinates of the point where the ray from the eye along d meets face
    f.
    """
    i0 = surface.faces[f, 0]
    e1 = surface.position[surface.faces[f, 1]] - surface.position[i0]
    e2 = surface.position[surface.faces[f, 2]] - surface.position[i0]
    s = view.eye - surface.position[i0]
    # Moeller & Trumbore 1997
    h = wp.cross(d, e2)
    a = wp.dot(e1, h)
    b1 = float(1.0 / 3.0)
    b2 = float(1.0 / 3.0)
    if wp.abs(a) > 1.0e-20:
        b1 = wp.clamp(wp.dot(s, h) / a, 0.0, 1.0)
        b2 = wp.clamp(wp.dot(d, wp.cross(s, e1)) / a, 0.0, 1.0 - b1)
    return vec3f(1.0 - b1 - b2, b1, b2)


@wp.func
def face_normal(f: int, surface: ShadedSurface):
    """Return a normal of a face, twice as long as its area."""
    x0 = surface.position[surface.faces[f, 0]]
    x1 = surface.position[surface.faces[f, 1]]
    x2 = surface.position[surface.faces[f, 2]]
    return wp.cross(x1 - x0, x2 - x0)


@wp.func
def facing_normal(f: int, b: vec3f, d: vec3f, surface: ShadedSurface):
    """Return the smooth unit normal at a point of face f, towards the eye that looks along d."""
    n = wp.normalize(
        b[0] * surface.normal[surface.faces[f, 0]]
        + b[1] * surface.normal[surface.faces[f, 1]]
        + b[2] * surface.normal[surface.faces[f, 2]]
    )
    if wp.dot(face_normal(f, surface), d) > 0.0:
        n = -n
    return n


@wp.func
def across_pixel(f: int, depth: float, d: vec3f, surface: ShadedSurface, side: float):
    """Return the length [m] of a pixel on face f in material coordinates, along its longer
    direction.
    """
    normal = face_normal(f, surface)
    u1 = surface.uv[f, 1] - surface.uv[f, 0]
    u2 = surface.uv[f, 2] - surface.uv[f, 0]
    material = wp.abs(u1[0] * u2[1] - u1[1] * u2[0])
    scale = wp.sqrt(material / wp.max(wp.length(normal), 1.0e-20))
    slant = wp.max(wp.abs(wp.dot(wp.normalize(normal), d)) / wp.length(d), 0.05)
    return side * depth * scale / slant


@wp.func
def shade_point(
    f: int,
    x: int,
    y: int,
    d: vec3f,
    pixel: float,
    view: ShadingCamera,
    surface: ShadedSurface,
    light: Light,
    near: SurroundingMap,
):
    """Return the color of face f where the ray from the eye along d meets it."""
    i0 = surface.faces[f, 0]
    e1 = surface.position[surface.faces[f, 1]] - surface.position[i0]
    e2 = surface.position[surface.faces[f, 2]] - surface.position[i0]
    b = barycentric_hit(f, d, view, surface)
    p = surface.position[i0] + b[1] * e1 + b[2] * e2
    n = facing_normal(f, b, d, surface)
    color = b[0] * surface.color[f, 0] + b[1] * surface.color[f, 1] + b[2] * surface.color[f, 2]
    depth = wp.dot(p - view.eye, d) / wp.dot(d, d)
    uv = b[0] * surface.uv[f, 0] + b[1] * surface.uv[f, 1] + b[2] * surface.uv[f, 2]
    back = wp.dot(face_normal(f, surface), d) > 0.0
    if surface.painted.prints.shape[0] > 0:
        width = across_pixel(f, depth, d, surface, pixel)
        color = paint(f, uv, width, back, color, surface.painted)
    if surface.cell > 0.0:
        k = int(wp.floor(uv[0] / surface.cell)) + int(wp.floor(uv[1] / surface.cell))
        if k % 2 != 0:
            color = 0.62 * color
    if surface.weave != 0 and f < surface.woven_faces:
        size = across_pixel(f, depth, d, surface, pixel)
        color = color * weave_factor(surface.weave, surface.yarns, uv, size)
    if back and not has_back(f, surface.painted):
        color = wp.lerp(color, vec3f(0.45, 0.45, 0.45), 0.45)
    facing = wp.dot(n, light.direction)
    key = wp.max(0.0, 0.85 * facing + 0.15)
    open = float(1.0)
    if view.soft != 0:
        s = surrounding_shares(x, y, depth, view, near)
        open = s[0]
        key = key * (0.12 + 0.88 * s[1])
    elif key > 0.0:
        key = key * (0.2 + 0.8 * lit_share(p + 2.0 * light.bias * n, light))
    toward = -wp.normalize(d)
    head = wp.max(0.0, wp.dot(n, toward))
    rim = 1.0 - head
    sheen = 0.08 * rim * rim * rim * (1.0 - surface.flatness) * open
    bright = (0.14 + 0.16 * (0.5 + 0.5 * n[1]) + 0.3 * head * head) * open + 0.75 * key
    bright = wp.lerp(bright, (0.55 + 0.45 * head) * (0.6 + 0.4 * open), surface.flatness)
    gloss = sheen_of(f, surface.painted) * highlight(n, toward, light.direction) * key
    return color * (bright + gloss) + vec3f(sheen, sheen, sheen) + 0.5 * vec3f(gloss, gloss, gloss)


@wp.func
def to_byte(v: float):
    """Return a linear value as a byte, with gamma 2."""
    return wp.uint8(255.0 * wp.sqrt(wp.clamp(v, 0.0, 1.0)) + 0.5)


@wp.kernel(module=_module)
def shade_rows(
    o: int,
    spread: int,
    view: ShadingCamera,
    surface: ShadedSurface,
    light: Light,
    near: SurroundingMap,
    face: IntArray2d,
    out: wp.array3d(dtype=wp.uint8),
):
    """Shade one row of the picture: each pixel is the mean of its samples.

    Samples have alpha: 1 on cloth and bodies; without background that of the shadow on the ground.
    """
    r = ((o + wp.tid()) * spread) % out.shape[0]
    n = view.samples
    pixel = 2.0 * view.tan_half * float(n) / view.size[1]  # size of a pixel at a depth of 1
    for c in range(out.shape[1]):
        total = vec3f(0.0, 0.0, 0.0)
        cover_of = float(0.0)
        last = int(-2)
        color = vec3f(0.0, 0.0, 0.0)
        alpha = float(1.0)
        for i in range(n):
            for j in range(n):
                y = r * n + i
                x = c * n + j
                f = face[y, x]
                if f != last:
                    d = ray(float(x) + 0.5, float(y) + 0.5, view)
                    if f >= 0:
                        color = shade_point(f, x, y, d, pixel, view, surface, light, near)
                        alpha = 1.0
                    else:
                        dark = ground_shadow(x, y, d, view, light, near)
                        if view.transparent != 0:
                            color = vec3f(0.0, 0.0, 0.0)
                            alpha = dark
                        else:
                            color = wall(d) * (1.0 - dark)
                            alpha = 1.0
                    last = f
                total += color
                cover_of += alpha
        if view.transparent != 0:
            out[r, c, 3] = wp.uint8(255.0 * cover_of / float(n * n) + 0.5)
            # PNG and WebP store colors that are not multiplied by alpha
            total = total / wp.max(cover_of, 1.0e-6)
        else:
            total = total / float(n * n)
        out[r, c, 0] = to_byte(total[0])
        out[r, c, 1] = to_byte(total[1])
        out[r, c, 2] = to_byte(total[2])
