"""The legend of a color scale, drawn into the corner of a picture."""

import numpy as np
from PIL import Image as Pillow
from PIL import ImageDraw, ImageFont

from weft.base.arrays import AnyArray
from weft.show.looks import Scale


def draw_legend(image: AnyArray, scale: Scale) -> AnyArray:
    """Return the picture (h,w,3) uint8 with title, color bar and five numbers at the lower
    right.
    """
    h, w = image.shape[:2]
    unit = max(10, h // 40)
    bar_w, bar_h = min(12 * unit, w // 2), unit
    picture = Pillow.fromarray(image)
    draw = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=unit)
    left, top = w - bar_w - 2 * unit, h - 4 * unit
    draw.text(
        (left, top - 1.5 * unit), f"{scale.title} [{scale.unit}]", fill=(40, 40, 40), font=font
    )
    ramp = scale.colors(np.linspace(scale.low, scale.high, bar_w))
    bar = np.repeat(np.round(255 * ramp).astype(np.uint8)[None], bar_h, axis=0)
    picture.paste(Pillow.fromarray(bar), (left, top))
    draw.rectangle((left - 1, top - 1, left + bar_w, top + bar_h), outline=(60, 60, 60))
    for i in range(5):
        value = scale.low + (scale.high - scale.low) * i / 4
        x = left + bar_w * i / 4
        draw.line((x, top + bar_h, x, top + bar_h + unit // 4), fill=(60, 60, 60))
        draw.text((x, top + 1.4 * bar_h), f"{value:g}", fill=(40, 40, 40), font=font, anchor="mt")
    return np.asarray(picture)
