"""Pins along a path, then let go: a banner is pulled up, released, and falls."""

import tempfile

import weft

cloth = weft.sheet(9, 17, width=0.5, height=1.0, fabric="polyester")
path = weft.Path([weft.Keyframe(0.0), weft.Keyframe(0.4, (0.0, 0.3, 0.0))])
scene = weft.Scene(cloth, [weft.Pin(cloth.border("top"), until=0.4, path=path)])
with tempfile.TemporaryDirectory() as folder:
    run = weft.simulate(scene, seconds=0.6, fps=30, out=f"{folder}/run")
    heights = [run.positions(k)[cloth.border("top"), 1].mean() for k in (0, 12, 18)]
    print("top border at 0, 0.4 and 0.6 s:", [round(float(h), 2) for h in heights], "m")
