"""The assets of examples/film, which usd-core made: cm, z up, 24 fps, time codes from 1001 to 1013.

``write_assets(folder)`` copies, and ``FilmAssets`` names:

- ``dancer.usda``: a skinned body (UsdSkel), a tube of two joints whose upper half bends forward by
  30 degrees in 12 frames, with a proxy, a guide (its purpose is inherited) and an invisible mesh.
- ``cape.usda``: a half tube of quads behind the dancer, which unfolds to a rectangle, with two
  materials (subsets), an atlas of two islands, a crease and primvars: a surface of Catmull and
  Clark.
- ``props.usda``: cubes of 10 cm: three point instances of two prototypes, two native instances.
- ``stand.usda``: a variant set ``height`` (``low``, ``high``) of a payload, ``stand_geo.usda``.
- ``shot.usda``: all of them, by references, in one stage; the stand stands 100 cm in front.
"""

import shutil
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parents[3] / "examples" / "film"
FIRST, LAST, FPS = 1001, 1013, 24
RADIUS, HEIGHT = 12.0, 120.0  # [cm] of the dancer
CAPE_U, CAPE_V = 9, 11  # vertices of the cape around the back, and down
CAPE_RADIUS, CAPE_TOP, CAPE_LENGTH = 15.0, 108.0, 75.0  # [cm]


BODY, CAPE = "/dancer/geo/body", "/cape/geo/cape"  # paths in their files; /shot/... in the shot


@dataclass(frozen=True)
class FilmAssets:
    """The files."""

    dancer: Path
    cape: Path
    props: Path
    stand: Path
    shot: Path


def write_assets(folder):
    """Copy all files into a folder."""
    for path in EXAMPLES.glob("*.usda"):
        shutil.copy(path, folder)
    return FilmAssets(*(Path(folder) / f"{field.name}.usda" for field in fields(FilmAssets)))


def write_cape(path):
    shutil.copy(EXAMPLES / "cape.usda", path)


def new_stage(path, root):
    """A stage with units, axis, rate and default prim; ``root(stage)`` makes that prim."""
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    stage.SetTimeCodesPerSecond(FPS)
    stage.SetFramesPerSecond(FPS)
    stage.SetStartTimeCode(FIRST)
    stage.SetEndTimeCode(LAST)
    stage.SetDefaultPrim(root(stage))
    return stage


CUBE = (
    np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=float),
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]],
)


def cape_points():
    """(n,3) [cm] vertices of the cape."""
    angle = np.pi + np.linspace(0, np.pi, CAPE_U)
    x = CAPE_RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    rows = np.linspace(CAPE_TOP - CAPE_LENGTH, CAPE_TOP, CAPE_V)
    return np.concatenate([np.column_stack([x, np.full(CAPE_U, z)]) for z in rows])


def cape_quads():
    """Corners of the quads of the cape, counter-clockwise from outside, row by row from the hem."""
    first = [i + CAPE_U * j for j in range(CAPE_V - 1) for i in range(CAPE_U - 1)]
    return [[k, k + 1, k + 1 + CAPE_U, k + CAPE_U] for k in first]
