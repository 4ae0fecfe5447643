"""Paint of cloth in pictures: colors, images and stitches of its parts (``PartAppearance``).

An image is repeated over the cloth, and filtered: of several sizes of it, each half as large as the
one before, a pixel takes the two between which its own size lies.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import warp as wp

from weft import kernel
from weft.base.arrays import Floats, Ints
from weft.base.errors import RunError
from weft.discretization.mesh import TriangleMesh
from weft.io.part_appearance import CLOTH, STITCH, THIN, PartAppearance, rgb
from weft.kernel import DataType, IntArray, Vec3fArray, WarpStruct
from weft.show.picture.fabric_look import fabric_factor, look_of_fabric

MOST_TEXELS = 2048  # of the side of an image in pictures
vec2f: DataType = wp.vec2f
vec3f: DataType = wp.vec3f


@wp.struct
class Print:
    """Colors and image of a part."""

    across: vec3f  # (u, v, 1) to the image's s
    along: vec3f  # and to t
    first: int  # first texel of the largest size of the image; -1: no image
    side: int  # texels of its side
    levels: int  # number of sizes
    back: vec3f  # linear color of the wrong side; negative: none
    thread: vec3f
    pattern: int  # of the weave; 0: none
    line: float  # [m] between its lines
    depth: float
    sheen: float


@wp.struct
class PaintedSurface:
    """Prints and stitches of all parts; without paint, arrays have no entries."""

    part: IntArray  # (M,) print of each drawn face, -1: none
    parent: IntArray  # (M,) face of the mesh
    prints: wp.array(dtype=Print)
    texels: Vec3fArray  # linear colors of all images, row by row from the top
    dash_first: IntArray  # (m+1,) first stitch near each face of the mesh
    dashes: wp.array2d(dtype=vec2f)  # (k,2) [m] ends of stitches, by face


@wp.func
def texel(look: Print, level: int, s: float, t: float, texels: Vec3fArray):
    """Return the color of an image at one of its sizes, bilinear."""
    first = int(look.first)
    side = int(look.side)
    for _ in range(level):
        first += side * side
        side = side // 2
    x = s * float(side) - 0.5
    y = -t * float(side) - 0.5
    c = int(wp.floor(x))
    r = int(wp.floor(y))
    color = vec3f(0.0, 0.0, 0.0)
    for i in range(2):
        for j in range(2):
            w = wp.abs(1.0 - float(i) - (y - float(r))) * wp.abs(1.0 - float(j) - (x - float(c)))
            rr = ((r + i) % side + side) % side
            cc = ((c + j) % side + side) % side
            color += w * texels[first + rr * side + cc]
    return color


@wp.func
def has_back(f: int, painted: PaintedSurface):
    """Return whether the wrong side of face f has a color of its own."""
    if painted.prints.shape[0] == 0:
        return False
    if painted.part[f] < 0:
        return False
    return painted.prints[painted.part[f]].back[0] >= 0.0


@wp.func
def sheen_of(f: int, painted: PaintedSurface):
    """Return the strength of the highlight on face f."""
    if painted.prints.shape[0] == 0:
        return 0.0
    if painted.part[f] < 0:
        return 0.0
    return painted.prints[painted.part[f]].sheen


@wp.func
def paint(f: int, uv: vec2f, size: float, back: bool, ground: vec3f, painted: PaintedSurface):
    """Return the color of face f at uv [m], where a pixel is ``size`` [m] large."""
    k = painted.part[f]
    if k < 0:
        return ground
    look = painted.prints[k]
    color = 1.0 * ground
    if look.first >= 0:
        place = vec3f(uv[0], uv[1], 1.0)
        s = wp.dot(look.across, place)
        t = wp.dot(look.along, place)
        x = wp.length(vec2f(look.across[0], look.across[1]))
        y = wp.length(vec2f(look.along[0], look.along[1]))
        level = wp.log2(wp.max(size * wp.max(x, y) * float(look.side), 1.0))
        level = wp.min(level, float(look.levels - 1))
        n = wp.min(int(level), look.levels - 2)
        fine = texel(look, n, s, t, painted.texels)
        coarse = texel(look, n + 1, s, t, painted.texels)
        color = wp.cw_mul(color, wp.lerp(fine, coarse, level - float(n)))
    if back and look.back[0] >= 0.0:
        color = look.back
    if look.pattern > 0:
        color = color * fabric_factor(look.pattern, look.line, look.depth, uv, size)
    cover = float(0.0)
    for i in range(
        painted.dash_first[painted.parent[f]], painted.dash_first[painted.parent[f] + 1]
    ):
        a = painted.dashes[i, 0]
        along = painted.dashes[i, 1] - a
        h = wp.clamp(wp.dot(uv - a, along) / wp.dot(along, along), 0.0, 1.0)
        off = wp.length(uv - a - h * along)
        cover = wp.max(cover, wp.clamp((0.5 * float(STITCH) - off) / size + 0.5, 0.0, 1.0))
    return wp.lerp(color, look.thread, cover)


class Paint:
    """The appearances of the parts of a mesh, as pictures need them.

    Args:
        mesh: of the cloth.
        parts: name of every part with its number of faces.
        appearances: by name of the part.
        fabrics: name and title of each part's fabric, by name of the part: for the weave, and for
            the color of parts without an appearance.

    Raises:
        RunError: no part has an appearance, or an image is missing.
    """

    def __init__(
        self,
        mesh: TriangleMesh,
        parts: Sequence[tuple[str, int]],
        appearances: Mapping[str, PartAppearance],
        fabrics: Mapping[str, str] | None = None,
    ) -> None:
        woven = {name: look_of_fabric(fabric) for name, fabric in (fabrics or {}).items()}
        own = {name: PartAppearance(look.color) for name, look in woven.items()}
        appearances = {**own, **appearances}
        if not appearances:
            raise RunError(
                "look surface",
                got="cloth without a surface",
                where=mesh.source,
                expected="`surface` in its pattern or scene",
                hint="see docs/guides/surfaces.md; or choose another look, such as panels",
            )
        self.mesh, self.looks = mesh, list(appearances.values())
        self.woven = [woven.get(name) for name in appearances]
        number = {name: k for k, name in enumerate(appearances)}
        self.part = np.repeat([number.get(n, -1) for n, _ in parts], [m for _, m in parts])

    def thickness(self) -> Floats | None:
        """Return the drawn thickness (n,) [m] of the vertices; None: no part has one."""
        given = np.array([look.thickness or 0.0 for look in self.looks] + [0.0])
        if not given.any():
            return None
        found = np.full(self.mesh.n_vertices, THIN)
        np.maximum.at(found, self.mesh.faces, given[self.part, None])
        return found

    def colors(self, parent: Ints) -> Floats:
        """Return (M,3,3) sRGB at the corners of drawn faces: white below images, which are
        multiplied by it.

        Args:
            parent: (M,) face of the mesh of each drawn face; those of bodies have no meaning.
        """
        own = ["ffffff" if look.image is not None else look.color for look in self.looks]
        table = np.array([rgb(code) for code in [*own, CLOTH]])
        return np.repeat(table[self._part_of(parent)][:, None], 3, axis=1)

    def _part_of(self, parent: Ints) -> Ints:
        """Return the part (M,) of drawn faces; -1: none, and bodies."""
        return np.append(self.part, -1)[np.minimum(parent, len(self.part))]

    def surface(self, parent: Ints) -> WarpStruct:
        """Return the paint for the shading of drawn faces, whose faces of the mesh are ``parent``
        (M,); bodies follow the cloth.
        """
        shown = self.looks
        sizes = [[] if look.image is None else _image_sizes(look) for look in shown]
        first = np.cumsum([0, *(sum(map(len, s)) for s in sizes)])[:-1]
        made = PaintedSurface()
        prints = kernel.records(
            Print,
            len(shown),
            across=[look.st[0] for look in shown],
            along=[look.st[1] for look in shown],
            first=[start if s else -1 for start, s in zip(first, sizes)],
            side=[1 << max(len(s) - 1, 0) for s in sizes],
            levels=[len(s) for s in sizes],
            back=[-np.ones(3) if look.back is None else rgb(look.back) ** 2 for look in shown],
            thread=[rgb(look.thread) ** 2 for look in shown],
            pattern=[0 if look is None else look.pattern.code for look in self.woven],
            line=[1.0 if look is None else look.line for look in self.woven],
            depth=[0.0 if look is None else look.depth for look in self.woven],
            sheen=[0.0 if look is None else look.sheen for look in self.woven],
        )
        texels = np.concatenate([np.zeros((0, 3)), *(s for own in sizes for s in own)])
        start, dashes = self._stitches_by_face()
        made.part = kernel.array(self._part_of(parent).astype(np.int32), wp.int32)
        made.parent, made.prints = kernel.array(parent, wp.int32), kernel.array(prints, Print)
        made.texels = kernel.array(texels.astype(np.float32), wp.vec3f)
        made.dash_first = kernel.array(start.astype(np.int32), wp.int32)
        made.dashes = kernel.array(dashes.astype(np.float32), wp.vec2f)
        return made

    def _stitches_by_face(self) -> tuple[Ints, Floats]:
        """Return the first stitch (m+1,) of each face of the mesh, and the stitches (k,2,2) [m]
        that the bounding boxes of the faces touch, face by face.
        """
        lines, found = [look.dashes() for look in self.looks], [np.zeros((0, 2, 2))]
        for k, uv in zip(self.part.tolist(), self.mesh.corner_uv):
            own = lines[k] if k >= 0 else found[0]
            near = own.min(1) - STITCH <= uv.max(0), own.max(1) + STITCH >= uv.min(0)
            found.append(own[np.logical_and(*near).all(1)])
        return np.cumsum([0, *map(len, found[1:])]), np.concatenate(found)


def _image_sizes(look: PartAppearance) -> list[Floats]:
    """Return the linear colors (side^2,3) of an image as a square, and of its halves, down to one
    texel.
    """
    from PIL import Image as Pillow

    image = look.open_print()
    side = min(MOST_TEXELS, max(2, 1 << (max(image.size) - 1).bit_length()))
    square = np.asarray(image.resize((side, side), Pillow.Resampling.BICUBIC)) / 255.0
    sizes: list[Floats] = [square**2]
    while len(sizes[-1]) > 1:
        n = len(sizes[-1]) // 2
        sizes.append(sizes[-1].reshape(n, 2, n, 2, 3).mean(axis=(1, 3)))
    return [s.reshape(-1, 3) for s in sizes]
