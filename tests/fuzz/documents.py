"""What stands beside scenes: patterns, drawings of them, laboratory data and sweeps."""

import shutil
from pathlib import Path

from tests.fuzz import scenes
from tests.fuzz.mutations import changed_bytes, changed_tree, words_of
from tests.plugins.garments.patterns.dxf_writer import block, drawing, polyline, text
from weft.base.schema.block import fields_of
from weft.plugins.garments.patterns.check import examine_pattern
from weft.plugins.garments.patterns.formats import read_pattern
from weft.plugins.lab.fitting.file import FitFileSettings, read_fit
from weft.plugins.lab.sweep.file import SweepSettings, read_sweep
from weft.plugins.lab.sweep.runner import plan_sweep
from weft.scene.build import load_scene

ROOT = Path(__file__).parents[2]
DRAWINGS = ROOT / "tests/plugins/garments/patterns/files"
PIECE = polyline([(0, 0), (400, 0), (400, 300), (0, 300)]), text("Piece Name: FRONT")
SQUARE = drawing([block("FRONT", *PIECE)])
WORN = """cloth: {garment: {pattern: worn.yaml, size: 8 cm}}
sewing: {closing: 100 ms, settle: 100 ms}
"""
SWEEP = """scene: swept.yaml
design: grid
vary: {cloth.sheet.width: [30 cm, 40 cm],
  gravity.1: {from: -12.0, to: -5.0, steps: 2, scale: linear}}
set: {fps: 25}
seed: 1
threads: 1
time_limit: 20 s
keep: {converged: true, static: 5 m/s, intersections: 0, strain: 10 %, slipped_off: false}
"""
SAMPLED = """scene: swept.yaml
design: sobol
samples: 4
vary: {cloth.sheet.width: {from: 30 cm, to: 40 cm, scale: log},
  cloth.sheet.nx: {from: 3, to: 5, whole: true}}
seeds: [cloth.sheet.seed]
"""
PATTERNS = sorted(ROOT.glob("examples/garments/patterns/*.yaml"))
FITS = sorted(ROOT.glob("examples/fabrics/*.yaml"))


class Documents:
    """Inputs of a fuzzer with ``rng`` and ``folder`` that are no scenes."""

    def changed(self, text, fields):
        """A document with its tree, its text or both changed."""
        if self.rng.random() < 0.8:
            text = changed_tree(self.rng, text, fields)
        data = text.encode()
        return changed_bytes(self.rng, data) if self.rng.random() < 0.3 else data

    def pattern(self):
        """A pattern of weft's own: read, looked through, and sewn."""
        texts = [scenes.PATTERN, *(p.read_text() for p in PATTERNS)]
        text = self.rng.choice(texts)
        data = self.changed(text, words_of(texts))
        path = self.folder / "worn.yaml"
        path.write_bytes(data)
        scene = self.folder / "wears.yaml"
        scene.write_text(WORN)

        def use():
            examine_pattern(read_pattern(path))
            if text is scenes.PATTERN:
                load_scene(scene)

        return data, ".yaml", use

    def drawing(self):
        """A pattern of other programs."""
        files = [(p.suffix, p.read_bytes()) for p in sorted(DRAWINGS.iterdir())]
        files.append((".dxf", SQUARE.encode()))
        suffix, data = self.rng.choice(files)
        data = changed_bytes(self.rng, data)
        path = self.folder / f"drawn{suffix}"
        path.write_bytes(data)
        return data, suffix, lambda: examine_pattern(read_pattern(path))

    def fit(self):
        """Laboratory data."""
        for name in ("tensile.csv", "shear.csv", "photograph.png"):
            shutil.copy(ROOT / "examples/fabrics" / name, self.folder / name)
        texts = [p.read_text() for p in FITS]
        fields = [*fields_of(FitFileSettings), *words_of(texts)]
        data = self.changed(self.rng.choice(texts), fields)
        if self.rng.random() < 0.2:
            file = self.folder / self.rng.choice(("tensile.csv", "shear.csv", "photograph.png"))
            file.write_bytes(changed_bytes(self.rng, file.read_bytes()))
        path = self.folder / "fit.yaml"
        path.write_bytes(data)
        return data, ".yaml", lambda: read_fit(path)

    def sweep(self):
        """A sweep: read and planned."""
        (self.folder / "swept.yaml").write_text(scenes.SHEET + "gravity: [0, -9.81, 0]\n")
        data = self.changed(
            self.rng.choice((SWEEP, SAMPLED)),
            [*fields_of(SweepSettings), "from", "to", "steps"],
        )
        path = self.folder / "sweep.yaml"
        path.write_bytes(data)

        def use():
            out = self.folder / "planned"
            shutil.rmtree(out, ignore_errors=True)
            plan_sweep(read_sweep(path), out)

        return data, ".yaml", use
