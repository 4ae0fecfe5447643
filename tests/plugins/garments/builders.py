"""Scenes in files, and garments and outfits of patterns, for tests of garments."""

import warnings

import numpy as np

import weft
from weft.plugins.garments.patterns.cutting import cut
from weft.plugins.garments.patterns.yaml_pattern import parse_yaml_pattern
from weft.plugins.garments.scene.outfit import Outfit
from weft.scene.build import load_scene

BESIDE = """
cloth: {sheet: {nx: 3, ny: 3, width: 20 cm, height: 20 cm}, translation: [0, 3 m, 0]}
contact: {}
seconds: 100 ms
"""  # a small sheet above a body


def scene_file(folder, text, **patterns):
    """Write a scene, and patterns beside it under their names; return the scene's path."""
    for name, pattern in patterns.items():
        (folder / f"{name}.yaml").write_text(pattern)
    path = folder / "scene.yaml"
    path.write_text(text)
    return path


def scene_of(folder, text, *overrides, **patterns):
    """Return the scene that these files make, whatever they are warned of."""
    with warnings.catch_warnings(action="ignore"):
        return load_scene(scene_file(folder, text, **patterns), overrides).scene


def simulated(scene, frames, folder, fps=None, **how):
    """Return the run of so many frames of a scene, in a folder."""
    out = folder / "run"
    return weft.simulate(scene, frames=frames, fps=fps, out=out, progress=False, **how)


def garment_of(text, size=0.05, **how):
    """Return a garment cut from the text of a pattern."""
    return cut(parse_yaml_pattern(text), size, **how)


def outfit_of(garment, *fabrics):
    """Return an outfit of one garment."""
    return Outfit.of([("it", garment, None)], list(fabrics))


def changed(text, old, new):
    """Return a text with one place of it changed."""
    assert text.count(old) == 1, (text.count(old), old)
    return text.replace(old, new)


def folded(x, angle):
    """A sheet in the plane z = 0 folded along x = 0: both wings turn down for a mountain."""
    y, wing = np.array(x), np.abs(x[:, 0])
    y[:, 0] = np.sign(x[:, 0]) * wing * np.cos(angle / 2)
    y[:, 2] = -wing * np.sin(angle / 2)
    return y
