"""Small DXF-AAMA files, as text: what CAD programs for clothes write, no more."""


def pairs(*values):
    return "".join(f"{code}\n{value}\n" for code, value in values)


def text(value, layer=1):
    return pairs((0, "TEXT"), (8, layer), (10, 0), (20, 0), (40, 1), (1, value))


def point(x, y, layer):
    return pairs((0, "POINT"), (8, layer), (10, x), (20, y))


def line(a, b, layer):
    return pairs((0, "LINE"), (8, layer), (10, a[0]), (20, a[1]), (11, b[0]), (21, b[1]))


def polyline(points, layer=1, closed=True, bulges=None):
    result = pairs((0, "POLYLINE"), (8, layer), (66, 1), (70, int(closed)))
    for (x, y), bulge in zip(points, bulges or [0] * len(points)):
        result += pairs((0, "VERTEX"), (8, layer), (10, x), (20, y), (42, bulge))
    return result + pairs((0, "SEQEND"))


def turns(*points):
    return "".join(point(x, y, 2) for x, y in points)


def block(name, *parts):
    body = "".join(parts)
    return pairs((0, "BLOCK"), (8, 1), (2, name), (10, 0), (20, 0)) + body + pairs((0, "ENDBLK"))


def drawing(blocks, texts=("Units: METRIC", "Style Name: TEST")):
    section = pairs((0, "SECTION"), (2, "BLOCKS")) + "".join(blocks) + pairs((0, "ENDSEC"))
    own = "".join(text(t) for t in texts)
    return section + pairs((0, "SECTION"), (2, "ENTITIES")) + own + pairs((0, "ENDSEC"), (0, "EOF"))
