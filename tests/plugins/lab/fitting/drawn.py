"""Pictures of known shapes, whose pixels show the mean of what they cover; tests that import them
are skipped without scikit-image.
"""

from functools import lru_cache

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("skimage", reason="no scikit-image: pip install 'weft[photographs]'")

FINE = 4  # samples a pixel and side
GROUND, BLUE, GRAY = (210, 212, 216), (70, 120, 165), (184, 184, 184)


def star(angle, radius=150.0, turn=0.0):
    """Six folds, and longer one way than the other."""
    a = angle - turn
    return radius * (1 + 0.12 * np.cos(6 * a) + 0.05 * np.cos(2 * a))


STAR_AREA = np.pi * 150.0**2 * (1 + 0.5 * (0.12**2 + 0.05**2))  # of its polar form, in closed form


@lru_cache
def drawn(
    shape=star,
    size=420,
    center=(212.3, 205.8),
    disk=115.0,
    colors=(GROUND, BLUE, GRAY),
    shaded=0.0,
    noise=0.0,
    shadow=False,
):
    """(h,w,3) linear light of a shape r(angle) [pixels] and of a disk, as 8 bit sRGB."""
    at = (np.arange(size * FINE) + 0.5) / FINE
    x, y = np.meshgrid(at - center[0], center[1] - at)
    r, angle = np.hypot(x, y), np.arctan2(y, x)
    ground, cloth, top = (_light(np.array(c) / 255) for c in colors)
    light = np.broadcast_to(ground, (*r.shape, 3)).copy()
    if shadow:
        light[np.hypot(x - 25, y - 25) < 175] *= 0.45
    shade = 1 + shaded * np.cos(6 * angle + 1.0)
    inside = r < shape(angle)
    light[inside] = (shade[..., None] * cloth)[inside]
    if disk:
        light[r < disk] = top
    light = light.reshape(size, FINE, size, FINE, 3).mean((1, 3))
    light += noise * np.random.default_rng(0).normal(size=light.shape)
    return np.round(255 * _srgb(np.clip(light, 0, 1))).astype(np.uint8)


def saved(path, image):
    """The path of an image, as a file."""
    Image.fromarray(image).save(path)
    return path


def _light(v):
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def _srgb(v):
    return np.where(v <= 0.0031308, 12.92 * v, 1.055 * v ** (1 / 2.4) - 0.055)
