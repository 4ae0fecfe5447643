"""Small assets of a film, made with usd-core: cm, z up, 24 fps, time codes from 1001 to 1013.

``write_assets(folder)`` writes, and ``FilmAssets`` names:

- ``dancer.usda``: a skinned body (UsdSkel) that bends, with a proxy, a guide and an invisible mesh.
- ``cape.usda``: quads with two materials (subsets), an atlas of two islands, a crease, primvars.
- ``props.usda``: a point instancer, native instances, and the prototypes of both.
- ``stand.usda``: a variant set ``height`` (``low``, ``high``) of a payload, ``stand_geo.usda``.
- ``shot.usda``: all of them, by references, in one stage.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests.engine.io.files import define

FIRST, LAST, FPS = 1001, 1013, 24
RADIUS, HEIGHT = 12.0, 120.0  # [cm] of the dancer
AROUND, ALONG = 12, 9  # vertices of a ring, and rings, of the dancer
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
    """Write all files into a folder."""
    names = FilmAssets.__dataclass_fields__
    made = FilmAssets(**{name: Path(folder) / f"{name}.usda" for name in names})
    write_dancer(made.dancer)
    write_cape(made.cape)
    write_props(made.props)
    write_stand(made.stand, made.stand.with_name("stand_geo.usda"))
    write_shot(made.shot, made)
    return made


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


def tube(radius, height):
    """Vertices [cm] and polygons of a closed upright tube: quads, and a polygon at either end."""
    angle = 2 * np.pi * np.arange(AROUND) / AROUND
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    z = np.linspace(0, height, ALONG)
    x = np.concatenate([np.column_stack([ring, np.full(AROUND, h)]) for h in z])
    ahead = [(k + 1) % AROUND for k in range(AROUND)]
    quads = [
        [j * AROUND + k, j * AROUND + ahead[k], (j + 1) * AROUND + ahead[k], (j + 1) * AROUND + k]
        for j in range(ALONG - 1)
        for k in range(AROUND)
    ]
    top = (ALONG - 1) * AROUND
    return x, [*quads, list(range(AROUND))[::-1], list(range(top, top + AROUND))]


CUBE = (
    np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], dtype=float),
    [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]],
)


def write_dancer(path):
    """A tube of two joints: its upper half bends forward (+y) by 30 degrees in 12 frames."""
    from pxr import Gf, UsdGeom, UsdSkel

    stage = new_stage(path, lambda s: UsdSkel.Root.Define(s, "/dancer").GetPrim())
    UsdGeom.Scope.Define(stage, "/dancer/geo")
    x, polygons = tube(RADIUS, HEIGHT)
    body = define(stage, BODY, x, polygons)
    proxy = define(stage, "/dancer/geo/proxy", *tube(1.5 * RADIUS, HEIGHT))
    proxy.CreatePurposeAttr(UsdGeom.Tokens.proxy)
    rig = UsdGeom.Xform.Define(stage, "/dancer/rig")  # the purpose is inherited
    rig.CreatePurposeAttr(UsdGeom.Tokens.guide)
    define(stage, "/dancer/rig/control", *tube(3 * RADIUS, 5.0))
    hidden = define(stage, "/dancer/geo/hidden", *tube(2 * RADIUS, HEIGHT))
    hidden.MakeInvisible()
    skeleton = UsdSkel.Skeleton.Define(stage, "/dancer/skeleton")
    skeleton.CreateJointsAttr(["hips", "hips/chest"])
    middle = HEIGHT / 2
    rest = [Gf.Matrix4d(1), Gf.Matrix4d().SetTranslate(Gf.Vec3d(0, 0, middle))]
    skeleton.CreateBindTransformsAttr(rest)
    skeleton.CreateRestTransformsAttr(rest)
    motion = UsdSkel.Animation.Define(stage, "/dancer/motion")
    motion.CreateJointsAttr(["hips", "hips/chest"])
    motion.CreateTranslationsAttr([Gf.Vec3f(0), Gf.Vec3f(0, 0, middle)])
    motion.CreateScalesAttr([Gf.Vec3h(1), Gf.Vec3h(1)])
    turns = motion.CreateRotationsAttr()
    for code in range(FIRST, LAST + 1):
        half = -np.radians(15.0 * (code - FIRST) / (LAST - FIRST))
        turns.Set([Gf.Quatf(1), Gf.Quatf(float(np.cos(half)), float(np.sin(half)), 0, 0)], code)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(
        [motion.GetPath()]
    )
    share = np.clip((x[:, 2] - 0.4 * HEIGHT) / (0.2 * HEIGHT), 0, 1)
    binding = UsdSkel.BindingAPI.Apply(body.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPath()])
    binding.CreateJointIndicesPrimvar(False, 2).Set([0, 1] * len(x))
    weights = np.column_stack([1 - share, share]).ravel()
    binding.CreateJointWeightsPrimvar(False, 2).Set([float(w) for w in weights])
    stage.Save()


def cape_points():
    """(n,3) [cm] a half tube behind the dancer, which unfolds to a rectangle without stretch."""
    angle = np.pi + np.linspace(0, np.pi, CAPE_U)
    x = CAPE_RADIUS * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return np.concatenate(
        [
            np.column_stack([x, np.full(CAPE_U, z)])
            for z in np.linspace(CAPE_TOP - CAPE_LENGTH, CAPE_TOP, CAPE_V)
        ]
    )


def cape_quads():
    """Corners of the quads of the cape, counter-clockwise from outside, row by row from the hem."""
    first = [(i, j) for j in range(CAPE_V - 1) for i in range(CAPE_U - 1)]
    return [
        [i + CAPE_U * j, i + 1 + CAPE_U * j, i + 1 + CAPE_U * (j + 1), i + CAPE_U * (j + 1)]
        for i, j in first
    ]


def atlas_uv():
    """(4m,2) texture coordinates of the corners: left and right half are islands of other sizes."""
    quads = np.array(cape_quads())
    i, j = quads % CAPE_U, quads // CAPE_U
    middle = CAPE_U // 2
    right = (i.min(1) >= middle)[:, None]
    u = np.where(right, 0.6 + 0.35 * (i - middle) / middle, 0.05 + 0.2 * i / middle)
    v = 0.05 + np.where(right, 0.5, 0.9) * j / (CAPE_V - 1)
    return np.stack([u, v], axis=-1).reshape(-1, 2)


def write_cape(path):
    """A cape of quads with everything that has to survive: it is a surface of Catmull and Clark."""
    from pxr import Gf, Sdf, UsdGeom, UsdShade, Vt

    stage = new_stage(path, lambda s: UsdGeom.Xform.Define(s, "/cape").GetPrim())
    UsdGeom.Scope.Define(stage, "/cape/geo")
    UsdGeom.Scope.Define(stage, "/cape/mtl")
    x, quads = cape_points(), cape_quads()
    mesh = define(stage, CAPE, x, quads, atlas_uv(), "faceVarying")
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.catmullClark)
    mesh.CreatePurposeAttr(UsdGeom.Tokens.render)
    mesh.CreateDoubleSidedAttr(True)
    mesh.CreateExtentAttr(UsdGeom.PointBased.ComputeExtent(mesh.GetPointsAttr().Get()))
    middle = [CAPE_U // 2 + CAPE_U * j for j in range(CAPE_V)]
    mesh.CreateCreaseIndicesAttr(middle)
    mesh.CreateCreaseLengthsAttr([len(middle)])
    mesh.CreateCreaseSharpnessesAttr([2.0])
    mesh.CreateDisplayColorPrimvar(UsdGeom.Tokens.constant).Set([Gf.Vec3f(0.5, 0.1, 0.1)])
    pins = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar(
        "collar", Sdf.ValueTypeNames.FloatArray, UsdGeom.Tokens.vertex
    )
    pins.Set(Vt.FloatArray.FromNumpy(np.float32(x[:, 2] > CAPE_TOP - 1)))
    right = [k for k, quad in enumerate(quads) if min(i % CAPE_U for i in quad) >= CAPE_U // 2]
    left = sorted(set(range(len(quads))) - set(right))
    for name, faces, color in (("red", left, (0.6, 0, 0)), ("blue", right, (0, 0, 0.6))):
        material = UsdShade.Material.Define(stage, f"/cape/mtl/{name}")
        shader = UsdShade.Shader.Define(stage, f"/cape/mtl/{name}/surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*color))
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        subset = UsdShade.MaterialBindingAPI(mesh).CreateMaterialBindSubset(
            name, Vt.IntArray(faces)
        )
        UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(material)
    stage.Save()


def write_props(path):
    """Cubes of 10 cm: three point instances of two prototypes, two native instances of a third."""
    from pxr import Gf, UsdGeom

    stage = new_stage(path, lambda s: UsdGeom.Xform.Define(s, "/props").GetPrim())
    points = UsdGeom.PointInstancer.Define(stage, "/props/scattered")
    for name, size in (("small", 5.0), ("large", 10.0)):
        define(stage, f"/props/scattered/prototypes/{name}", size * CUBE[0], CUBE[1])
    points.CreatePrototypesRel().SetTargets(
        [f"/props/scattered/prototypes/{name}" for name in ("small", "large")]
    )
    points.CreateProtoIndicesAttr([0, 1, 1])
    points.CreatePositionsAttr([Gf.Vec3f(60 + 20 * k, 0, 0) for k in range(3)])
    stage.CreateClassPrim("/crate")
    define(stage, "/crate/geo/box", 10.0 * CUBE[0], CUBE[1])
    for k in range(2):
        crate = UsdGeom.Xform.Define(stage, f"/props/crate_{k}")
        crate.GetPrim().GetReferences().AddInternalReference("/crate")
        crate.GetPrim().SetInstanceable(True)
        crate.AddTranslateOp().Set(Gf.Vec3d(-60 - 20 * k, 0, 0))
    stage.Save()


def write_stand(path, geo):
    """A stand whose mesh is a payload; its variant set says how high it is, ``low`` at first."""
    from pxr import UsdGeom

    below = new_stage(geo, lambda s: UsdGeom.Xform.Define(s, "/geo").GetPrim())
    for height in (10.0, 40.0):
        name = "low" if height < 20 else "high"
        define(below, f"/geo/{name}", [20, 20, height] * CUBE[0], CUBE[1])
    below.Save()
    stage = new_stage(path, lambda s: UsdGeom.Xform.Define(s, "/stand").GetPrim())
    prim = stage.GetPrimAtPath("/stand")
    stage.DefinePrim("/stand/geo").GetPayloads().AddPayload(f"./{geo.name}")
    variants = prim.GetVariantSets().AddVariantSet("height")
    for name, other in (("low", "high"), ("high", "low")):
        variants.AddVariant(name)
        variants.SetVariantSelection(name)
        with variants.GetVariantEditContext():
            stage.OverridePrim(f"/stand/geo/{other}").SetActive(False)
    variants.SetVariantSelection("low")
    stage.Save()


def write_shot(path, assets):
    """One stage of all assets below ``/shot``; the stand stands 100 cm in front."""
    from pxr import Gf, UsdGeom

    stage = new_stage(path, lambda s: UsdGeom.Xform.Define(s, "/shot").GetPrim())
    for file in (assets.dancer, assets.cape, assets.props, assets.stand):
        prim = stage.DefinePrim(f"/shot/{file.stem}")
        prim.GetReferences().AddReference(f"./{file.name}")
    UsdGeom.Xformable(prim).AddTranslateOp().Set(Gf.Vec3d(0, 100, 0))
    stage.Save()
