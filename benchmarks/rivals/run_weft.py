"""The drape in weft, for `benchmarks/peers.py`."""

from exchange import read

import weft
from weft import kernel
from weft.scene.build import load_scene
from weft.scene.prepare import prepare

d = read()
kernel.configure(threads=int(d.cores))
scene = load_scene(d.options["file"], d.options["set"]).scene
ready = prepare(scene)
model, stepper, start = ready.model, ready.stepper, ready.state
assert (start.x == d.cloth).all(), "weft's sheet is not the others'"
memory = stepper.init(model, start)
stepper.step(model, start, memory, scene.step)  # loads the kernels
stepper = prepare(scene).stepper
state, memory = start, stepper.init(model, start)
steps, failed = round(1 / d.fps / scene.step), 0
for _ in range(d.n_frames):
    with d:
        for _ in range(steps):
            state, memory, report = stepper.step(model, state, memory, 1 / d.fps / steps)
            failed += not report.outcome.ok
    d.frame(state.x)
d.write(weft.__version__, steps * d.n_frames, f"{failed} steps failed" if failed else "")
