"""The formats of film: USD and glTF."""

from weft.io.format import Format
from weft.plugins.film.gltf.gltf import write_gltf
from weft.plugins.film.gltf.gltf_scene import gltf_contents, gltf_moving
from weft.plugins.film.usd.usd import write_usd
from weft.plugins.film.usd.usd_open import read_shot
from weft.plugins.film.usd.usd_read import usd_contents, usd_moving
from weft.plugins.film.usd.usd_skeleton import write_skinned

USD = Format(
    read=usd_contents,
    stage=True,
    moving=usd_moving,
    animate=write_usd,
    skinned=write_skinned,
    carries_fields=True,
    shot=read_shot,
)
GLTF = Format(read=gltf_contents, moving=gltf_moving, animate=write_gltf, carries_fields=True)
