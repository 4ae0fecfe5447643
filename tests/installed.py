"""What an installed wheel has to do, where there is no repository: `make package` runs this with
the Python of an empty environment.
"""

import json
import subprocess
import sys
import time
from importlib import metadata, resources
from pathlib import Path

import weft

BEGAN = time.perf_counter()
WEFT = Path(sys.executable).with_name("weft")


def said(*words):
    """What the command prints."""
    done = subprocess.run([WEFT, *words], capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, f"weft {' '.join(words)}: {done.stderr[-2000:]}"
    return done.stdout


where = Path(weft.__file__).parent
assert where.is_relative_to(sys.prefix), f"not the installed one: {where}"
for name in (
    "py.typed",
    "fabrics/silk.yaml",
    "scenes/demo.yaml",
    "show/viewer/page.html",
    "examples/regions/scarf.yaml",
    "examples/regions/meshes/scarf.obj",
):
    assert (resources.files("weft") / name).is_file(), name
about = metadata.distribution("weft")
licenses = [f for f in about.files if f.name == "LICENSE"]
assert licenses and "Apache License" in licenses[0].read_text()
assert about.metadata["License-Expression"] == "Apache-2.0"

assert len(json.loads(said("fabrics", "--json"))) >= 15
doctor = said("doctor")
for row in ("weft ", "python", "threads", "memory", "devices", "kernel cache", "weft[usd]"):
    assert row in doctor, f"weft doctor has no {row!r}"
assert "two_corners" in said("examples")
Path("scene.yaml").write_text(
    "cloth: {sheet: {nx: 5, ny: 5}, fabric: silk}\npins: [{corners: top}]\nseconds: 0.1 s\n"
)
assert "no errors" in said("check", "scene.yaml")
said("run", "scene.yaml", "--out", "run")
said("render", "run", "a.png", "--width", "160", "--height", "120")
said("export", "run", "a.glb")
for made in ("a.png", "a.glb"):
    assert Path(made).stat().st_size > 1000, made
sys.stdout.write(
    f"weft {weft.__version__} works without the repository ({time.perf_counter() - BEGAN:.0f} s)\n"
)
