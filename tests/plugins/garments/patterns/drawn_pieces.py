"""Pieces of clothes in millimeters, as pattern programs draw them."""

import numpy as np

from tests.plugins.garments.patterns.dxf_writer import block, drawing, line, polyline, text


def curve(a, b, c, n=12):
    """The points of a quadratic Bézier curve after its first one."""
    t = np.linspace(0, 1, n + 1)[1:, None]
    a, b, c = map(np.array, (a, b, c))
    return [tuple(p) for p in (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t * t * c]


def bodice(drop):
    """Half of a bodice with its center at x = 0; the neckline is ``drop`` below the shoulder."""
    arm, shoulder, neck = (265, 380), (185, 600), (85, 640)
    points = [(0, 0), (265, 0), arm, *curve(arm, (160, 390), shoulder), neck]
    return points + curve(neck, (80, 640 - drop), (0, 640 - drop))


def skirt(waist, dart=False):
    """Half of a skirt with its center at x = 0, with a dart at its waist."""
    hips = (260, 410)
    points = [(0, 0), (280, 0), *curve((280, 0), (262, 400), hips, 6)]
    points += [*curve(hips, (255, 540), (waist, 600), 6)[:-1], (waist, 600)]
    return points + [(130, 606), (120, 490), (110, 606)] * dart + [(0, 592)]


def sleeve():
    """A short sleeve."""
    points = [(-170, 0), (170, 0), (200, 90), *curve((200, 90), (100, 95), (90, 171))]
    points += curve((90, 171), (50, 215), (0, 215))
    return points + [(-x, y) for x, y in points[3:-1][::-1]] + [(-200, 90)]


def long_sleeve():
    """A long sleeve; the right half of its cap is more hollow than the left one."""
    arm, top = (170, 410), (0, 560)
    points = [
        (-95, 0),
        (95, 0),
        arm,
        *curve(arm, (60, 430), (70, 500)),
        *curve((70, 500), (40, 560), top),
    ]
    left = [*curve(top, (-40, 560), (-85, 500)), *curve((-85, 500), (-100, 430), (-170, 410))]
    return points + left


def raglan(neck):
    """Half of a top without a shoulder; its neckline ends at y = ``neck``."""
    return [(0, 0), (240, 0), (240, 220), (70, 440), *curve((70, 440), (50, neck), (0, neck))]


def raglan_sleeve():
    """A sleeve with its front at the right, and a short edge at the neck."""
    return [(-95, 0), (95, 0), (170, 480), (25, 714), (-30, 700), (-170, 480)]


def band(length, width):
    """A rectangle that lies along x."""
    return [(0, 0), (length, 0), (length, width), (0, width)]


def sector(near, far, degrees):
    """A skirt of a part of a circle, with its waist at the radius ``near``."""
    t = np.radians(np.linspace(-degrees / 2, degrees / 2, 61))
    outer = [(far * np.sin(a), -far * np.cos(a)) for a in t]
    return outer + [(near * np.sin(a), -near * np.cos(a)) for a in t[::-1]]


def leg(hip, crotch, waist):
    """A leg with its inner side at the right."""
    tip, end = (hip + crotch, 730), (25, 0)
    points = [end, (225, 0), *curve((225, 0), (240, 400), tip, 8)]
    points += [*curve(tip, (hip + 5, 745), (hip, 820), 8), (hip - 15, 1000)]
    points += [(hip - 15 - waist, 1000), *curve((hip - 15 - waist, 1000), (-8, 880), (0, 770), 6)]
    return points + curve((0, 770), (10, 400), end, 8)[:-1]


def whole(half):
    """A half and its mirror image."""
    return half + [(-x, y) for x, y in half[::-1] if abs(x) > 1e-9]


def turned(points, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return [(c * x - s * y, s * x + c * y) for x, y in points]


def write_pieces(folder, pieces, degrees=0, unit=1.0):
    """Write a drawing of pieces that are turned, with their grain, and return its path.

    Pieces are in millimeters, which are ``unit`` of the drawing's.
    """
    blocks = [
        block(
            f"B{i}",
            text(f"Piece Name: {name}"),
            polyline(unit * np.array(turned(points, degrees))),
            line(*(unit * np.array(turned([(40, 100), (40, 150)], degrees))), 7),
        )
        for i, (name, points) in enumerate(pieces.items())
    ]
    (folder / "drawn.dxf").write_text(drawing(blocks))
    return folder / "drawn.dxf"
