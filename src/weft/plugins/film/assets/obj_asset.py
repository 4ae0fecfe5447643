"""OBJ files of assets, with the positions and normals of cloth."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from weft.base.input_file import strip_byte_order_mark
from weft.io.animation import Animation
from weft.io.files import write_file
from weft.io.obj import split_statements
from weft.io.surface import read_bytes
from weft.plugins.film.assets.asset_cloth import AssetCloth


def write_obj_over(
    path: Path, asset: Path, animation: Animation, cloths: Sequence[AssetCloth], first: object
) -> Sequence[str]:
    """Write the OBJ file of an asset with the positions and normals of one frame.

    All other lines stay: faces, groups, materials, texture coordinates, comments. A normal that
    several corners have turns with the mean of their vertices.

    Args:
        path: the new file.
        asset: the file of the asset.
        animation: one frame, in meters, y up.
        cloths: the mesh of the file.
        first: not used: the file holds no time.

    Raises:
        RunError: the file cannot be written.
        MeshError: an asset that has other vertices than its cloth.
    """
    (cloth,), (moment,) = cloths, animation
    data = strip_byte_order_mark(read_bytes(asset))
    statements = list(split_statements(data.decode("utf-8", errors="surrogateescape")))
    x, count, normals = moment.positions[0], 0, list[list[float]]()
    users: list[tuple[int, int]] = []  # normal and vertex of corners
    for _, (kind, *words), _ in statements:
        count += kind == "v"
        if kind == "vn":
            normals.append([float(w) for w in words[:3]])
        for corner in words if kind == "f" else ():
            v, _, n = (int(k or 0) for k in f"{corner}//".split("/")[:3])
            if n:
                users.append((n - 1 if n > 0 else len(normals) + n, v - 1 if v > 0 else count + v))
    new = {"v": iter(cloth.positions(x).tolist())}
    if users:
        normal, vertex = np.array(users, dtype=np.int32).T
        own = np.array(normals) @ np.linalg.inv(cloth.to_file)
        turned = cloth.surface.turn(x, own, (normal, vertex)) @ cloth.to_file
        new["vn"] = iter(turned.tolist())
    lines = []
    for _, (kind, *_), text in statements:
        if kind in new:
            more = text.replace("\\", " ").split()[4:]
            text = " ".join([kind, *map(repr, next(new[kind])), *more]) + "\n"
        lines.append(text)
    write_file(path, "".join(lines).encode("utf-8", errors="surrogateescape"))
    return ()
