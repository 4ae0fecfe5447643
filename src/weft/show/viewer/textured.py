"""A colored surface as one binary glTF, for viewers that accept this format.

It has positions, and a small picture that is looked up by material coordinates or values.
"""

import base64
import io
from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Floats, Positions
from weft.io.formats.gltf_buffer import GltfBuffer
from weft.show.looks import Scale
from weft.show.viewer.corners import Corners
from weft.show.viewer.tones import FRONT, SQUARES, panel_colors

STOPS = 256  # texels of a color scale
NEAREST, LINEAR, CLAMPED, REPEATED = 9728, 9729, 33071, 10497  # sampler codes of glTF 2.0


@dataclass(frozen=True, eq=False)
class Skin:
    """The texture of a surface.

    Args:
        texels: (h,w,3) from 0 to 1, sRGB.
        places: (r,2) texture coordinates of the corners' vertices; 0 to 1 is all of the picture.
        smooth: colors are interpolated between texels.
        repeats: the picture is repeated beyond its edges.
    """

    texels: Floats
    places: Floats
    smooth: bool = False
    repeats: bool = False


def skin_of(
    look: str, corners: Corners, cell: float, scale: Scale | None, values: Floats | None
) -> Skin:
    """Return the texture of a surface for a look.

    Args:
        look: panels, checker, or another.
        corners: of the cloth.
        cell: [m] side of a square of the checker.
        scale: of a look that shows a measure.
        values: (n,) of the vertices, for such a look.
    """
    middle = np.full((len(corners.vertex), 2), 0.5)
    if scale is not None and values is not None:
        t = np.clip((values - scale.low) / (scale.high - scale.low), 0, 1)[corners.vertex]
        ramp = scale.colors(np.linspace(scale.low, scale.high, STOPS))[None]
        middle[:, 0] = (0.5 + t * (STOPS - 1)) / STOPS
        return Skin(ramp, middle, smooth=True)
    if look == "checker":
        light, dark = SQUARES
        return Skin(np.array([[light, dark], [dark, light]]), corners.uv / (2 * cell), repeats=True)
    if look == "panels":
        count = int(corners.region.max()) + 1
        middle[:, 0] = (corners.region + 0.5) / count
        return Skin(panel_colors(np.arange(count, dtype=np.int32))[None], middle)
    return Skin(np.array([[FRONT]]), middle)


def glb(corners: Corners, x: Positions, normals: Floats, skin: Skin) -> bytes:
    """Return a binary glTF 2.0 of the surface at positions x (n,3) [m], seen from both sides.

    Args:
        corners: of the surface.
        x: (n,3) [m] of the vertices.
        normals: (n,3) of unit length.
        skin: its texture.
    """
    buffer = GltfBuffer()
    mixed, wrap = LINEAR if skin.smooth else NEAREST, REPEATED if skin.repeats else CLAMPED
    png = base64.b64encode(_png(skin.texels)).decode("ascii")
    buffer.append("images", {"uri": f"data:image/png;base64,{png}"})
    buffer.append(
        "samplers", {"magFilter": mixed, "minFilter": mixed, "wrapS": wrap, "wrapT": wrap}
    )
    buffer.append("textures", {"sampler": 0, "source": 0})
    look = {"baseColorTexture": {"index": 0}, "metallicFactor": 0.0, "roughnessFactor": 0.9}
    buffer.append("materials", {"doubleSided": True, "pbrMetallicRoughness": look})
    attributes = {
        "POSITION": buffer.vectors(x[corners.vertex].astype(np.float32), bounds=True),
        "NORMAL": buffer.vectors(normals[corners.vertex].astype(np.float32)),
        "TEXCOORD_0": buffer.vectors(skin.places.astype(np.float32)),
    }
    ids = buffer.indices(corners.faces.reshape(-1))
    surface = {"attributes": attributes, "indices": ids, "material": 0}
    mesh = buffer.append("meshes", {"primitives": [surface]})
    buffer.tree["scenes"][0]["nodes"].append(buffer.append("nodes", {"mesh": mesh}))
    return buffer.glb()


def _png(texels: Floats) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(np.round(255 * texels).astype(np.uint8)).save(file, format="PNG")
    return file.getvalue()
