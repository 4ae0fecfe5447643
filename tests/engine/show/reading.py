"""A page read with nothing of weft but the format's description (docs/reference/viewer-page.md)."""

import base64
import json
import zlib
from html.parser import HTMLParser

import numpy as np


class Page(HTMLParser):
    """Blocks of a page by id, and whatever would be asked of a network."""

    def __init__(self, text):
        super().__init__()
        self.blocks, self.asks, self._id = {}, [], None
        self.feed(text)
        self.close()
        self.about = json.loads(self.blocks["about"])

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self._id = given.get("id", "script") if tag == "script" else None
        asks = [v for k, v in attrs if k in ("src", "href", "action", "data")]
        self.asks += [v for v in asks if not v.startswith("data:")]
        if tag in ("base", "object", "embed"):
            self.asks.append(tag)

    def handle_endtag(self, tag):
        self._id = None

    def handle_data(self, data):
        if self._id is not None:
            self.blocks[self._id] = self.blocks.get(self._id, "") + data

    def array(self, name, kind):
        """A block that is as it was."""
        return np.frombuffer(zlib.decompress(base64.b64decode(self.blocks[f"block:{name}"])), kind)

    def frames(self, name, count):
        """(count,n,c) values of a block of frames, one number after the other: slow and plain."""
        about = self.about["arrays"][name]
        low, step, bits = np.array(about["low"]), np.array(about["step"]), about["bits"]
        numbers = unfolded(self.blocks[f"block:{name}"], count, bits // 8)
        return numbers.reshape(count, -1, len(low)) * step + low


def unfolded(text, count, wide):
    """(count,n) whole numbers of ``wide`` bytes each, which the text of a block of frames holds."""
    data = zlib.decompress(base64.b64decode(text))
    n = len(data) // count // wide
    assert n * wide * count == len(data)
    now, found = [0] * n, []
    for k in range(count):
        part = data[k * n * wide : (k + 1) * n * wide]
        for i in range(n):
            folded = part[i] + (part[n + i] << 8 if wide == 2 else 0)
            difference = folded // 2 if folded % 2 == 0 else -(folded + 1) // 2
            now[i] = (now[i] + difference) % 2 ** (8 * wide)
        found.append(list(now))
    return np.array(found)
