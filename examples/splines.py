"""The same cloth of triangles and of quadratic B-splines: where its corner hangs, and how it looks.

Splines are smooth (C1), so half as many points a side are enough; `docs/guides/choose-a-law.md`
says when."""

import weft

sheets = {
    "triangles": weft.sheet(41, 41, width=0.8, height=0.8, fabric="linen"),
    "splines": weft.spline_sheet(21, 21, width=0.8, height=0.8, fabric="linen"),
}
lowest = {}
for name, cloth in sheets.items():
    scene = weft.Scene(cloth, pins=[weft.Pin(cloth.border("left"))], damping=0.05)
    run = weft.simulate(scene, seconds=0.6, fps=25, out=f"runs/{name}", progress=False)
    run.render(f"runs/{name}.png")
    lowest[name] = float(run.positions()[:, 1].min())
    print(f"{name}: {3 * len(cloth.points)} unknowns, lowest point {lowest[name]:.3f} m")

run.save("runs/net.obj", net=True)  # the control points
run.save("runs/fine.obj", density=4)  # four samples a span
print(f"ratio: {lowest['splines'] / lowest['triangles']:.3f}")
