"""Materials of USD files: a ``UsdPreviewSurface`` for every part of the cloth with a surface.

Images are files in a folder beside the layer, ``NAME_textures``, and repeat over ``st``.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from weft.io.animation import SurfaceTopology, distinct
from weft.io.files import atomic_write
from weft.io.part_appearance import linear_color

if TYPE_CHECKING:
    from pxr import UsdGeom

MATERIAL_UV = "material_uv"  # primvar of material coordinates, beside ``st`` of the images
ROUGHNESS = 0.9
Images = Sequence[str | None]  # of each region: path of its image, relative to the layer


def textures_folder(layer: Path) -> Path:
    """Return the folder of the images of a layer."""
    return layer.with_name(f"{layer.stem}_textures")


def save_images(layer: Path, cloth: SurfaceTopology) -> Images:
    """Write the images of a cloth into the folder beside a layer, and return their paths.

    Raises:
        RunError: an image is missing, or the folder cannot be written to.
    """
    folder, paths = textures_folder(layer), list[str | None]()
    files: dict[bytes, str] = {}
    for look in cloth.appearances:
        if look is None or look.image is None:
            paths.append(None)
            continue
        suffix, data = look.image_bytes()
        if data not in files:
            stem = distinct([*(Path(f).stem for f in files.values()), look.image.stem])[-1]
            files[data] = stem + suffix
            folder.mkdir(exist_ok=True)
            with atomic_write(folder / files[data]) as file:
                file.write(data)
        paths.append(f"./{folder.name}/{files[data]}")
    return paths


def add_materials(mesh: "UsdGeom.Mesh", scope: str, cloth: SurfaceTopology, images: Images) -> None:
    """Define the materials of a cloth below a path, and bind them to its subsets."""
    from pxr import Gf, Sdf, UsdGeom, UsdShade

    stage, kinds = mesh.GetPrim().GetStage(), Sdf.ValueTypeNames
    names = distinct([name for name, _ in cloth.regions])
    for name, look, image in zip(names, cloth.appearances, images):
        if look is None:
            continue
        UsdGeom.Scope.Define(stage, scope)
        path = f"{scope}/{name}"
        material = UsdShade.Material.Define(stage, path)
        shader = UsdShade.Shader.Define(stage, f"{path}/surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("roughness", kinds.Float).Set(ROUGHNESS)
        color = shader.CreateInput("diffuseColor", kinds.Color3f)
        color.Set(Gf.Vec3f(*linear_color(look.color)))
        output = shader.CreateOutput("surface", kinds.Token)
        material.CreateSurfaceOutput().ConnectToSource(output)
        if image is not None:
            reader = UsdShade.Shader.Define(stage, f"{path}/st")
            reader.CreateIdAttr("UsdPrimvarReader_float2")
            reader.CreateInput("varname", kinds.String).Set("st")
            texture = UsdShade.Shader.Define(stage, f"{path}/image")
            texture.CreateIdAttr("UsdUVTexture")
            texture.CreateInput("file", kinds.Asset).Set(Sdf.AssetPath(image))
            texture.CreateInput("sourceColorSpace", kinds.Token).Set("sRGB")
            for wrap in ("wrapS", "wrapT"):
                texture.CreateInput(wrap, kinds.Token).Set("repeat")
            place = reader.CreateOutput("result", kinds.Float2)
            texture.CreateInput("st", kinds.Float2).ConnectToSource(place)
            color.ConnectToSource(texture.CreateOutput("rgb", kinds.Float3))
        subset = stage.GetPrimAtPath(f"{mesh.GetPath()}/{name}")
        UsdShade.MaterialBindingAPI.Apply(subset).Bind(material)
