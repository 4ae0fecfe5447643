"""Materials of USD files: a ``UsdPreviewSurface`` for every part of the cloth with a surface.

Images are files in a folder beside the layer, ``NAME_textures``, and repeat over ``st``.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from weft.io.animation import SurfaceTopology, distinct
from weft.io.files import write_file
from weft.io.part_appearance import PartAppearance, linear_color

if TYPE_CHECKING:
    from pxr import UsdGeom

MATERIAL_UV = "material_uv"  # primvar of material coordinates, beside ``st`` of the images
SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg"}
# A material with an image; one without has neither the image nor its connection.
PRINTED = """#usda 1.0
def Material "printed" {
    token outputs:surface.connect = </printed/surface.outputs:surface>
    def Shader "surface" {
        uniform token info:id = "UsdPreviewSurface"
        color3f inputs:diffuseColor
        color3f inputs:diffuseColor.connect = </printed/image.outputs:rgb>
        float inputs:roughness = 0.9
        token outputs:surface
    }
    def Shader "st" {
        uniform token info:id = "UsdPrimvarReader_float2"
        string inputs:varname = "st"
        float2 outputs:result
    }
    def Shader "image" {
        uniform token info:id = "UsdUVTexture"
        asset inputs:file
        token inputs:sourceColorSpace = "sRGB"
        float2 inputs:st.connect = </printed/st.outputs:result>
        token inputs:wrapS = "repeat"
        token inputs:wrapT = "repeat"
        float3 outputs:rgb
    }
}
"""


class Materials:
    """The materials of a file's surfaces, below one prim, and their images in a folder."""

    def __init__(self, scope: str, folder: Path) -> None:
        self.scope, self.folder = scope, folder
        self._files: dict[bytes, str] = {}

    def bind(self, mesh: "UsdGeom.Mesh", shape: SurfaceTopology) -> None:
        """Define the materials of a shape, and bind them to the subsets of its mesh.

        Raises:
            RunError: an image is missing, or the folder cannot be written to.
        """
        from pxr import Gf, Sdf, UsdGeom, UsdShade

        stage, template = mesh.GetPrim().GetStage(), Sdf.Layer.CreateAnonymous(".usda")
        template.ImportFromString(PRINTED)
        names = distinct([name for name, _ in shape.regions])
        for name, look in zip(names, shape.appearances):
            if look is None:
                continue
            UsdGeom.Scope.Define(stage, self.scope)
            path = f"{self.scope}/{name}"
            Sdf.CopySpec(template, "/printed", stage.GetRootLayer(), path)
            color = stage.GetAttributeAtPath(f"{path}/surface.inputs:diffuseColor")
            color.Set(Gf.Vec3f(*linear_color(look.color)))
            if look.image is None:
                color.ClearConnections()
                for child in ("st", "image"):
                    stage.RemovePrim(f"{path}/{child}")
            else:
                file = f"./{self.folder.name}/{self._save_image(look, look.image)}"
                stage.GetAttributeAtPath(f"{path}/image.inputs:file").Set(file)
            subset = stage.GetPrimAtPath(f"{mesh.GetPath()}/{name}")
            material = UsdShade.Material.Get(stage, path)
            UsdShade.MaterialBindingAPI.Apply(subset).Bind(material)

    def _save_image(self, look: PartAppearance, image: Path) -> str:
        """Return the name of an image in the folder, once it is written there."""
        if image.parent == self.folder:
            return image.name
        kind, data = look.image_bytes()
        if data not in self._files:
            stem = distinct([*(Path(f).stem for f in self._files.values()), image.stem])[-1]
            self._files[data] = stem + SUFFIXES[kind]
            self.folder.mkdir(exist_ok=True)
            write_file(self.folder / self._files[data], data)
        return self._files[data]
