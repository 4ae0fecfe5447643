"""What a gradient or a run made is freed with it, without the garbage collector."""

import gc
import warnings
from collections import Counter

import pytest

import weft
from tests.engine.adjoint.cases import hung, landing, noise
from weft.solve.linear import direct

PCG = weft.StepSettings(tolerance=1e-8, linear="pcg")


def gradient(scene, names):
    weft.Adjoint(scene, noise(16), names, frames=1, fps=100.0)(check=True)


def run(scene, folder):
    weft.simulate(scene, frames=1, fps=100.0, out=folder, progress=False)


CASES = {
    "gradient": lambda _: gradient(hung(), ["gravity", "positions"]),
    "contact": lambda _: gradient(landing(), ["gravity", "contact.friction"]),
    "run": lambda folder: run(hung(), folder),
    "pcg": lambda folder: run(hung().with_(settings=PCG), folder),
}


@pytest.mark.parametrize("name", CASES)
def test_no_reference_cycle_of_weft_is_left(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        CASES[name](tmp_path / "first")  # what is loaded and cached once
        gc.collect()
        gc.disable()
        try:
            CASES[name](tmp_path / "second")
            gc.set_debug(gc.DEBUG_SAVEALL)
            gc.collect()
        finally:
            gc.set_debug(0)
            left = Counter(f"{type(o).__module__}.{type(o).__qualname__}" for o in gc.garbage)
            gc.garbage.clear()
            gc.enable()
    assert not {k: n for k, n in left.items() if k.startswith(("weft", "ctypes", "pypardiso"))}


@pytest.mark.skipif(not direct.have_pardiso(), reason="pypardiso is not installed")
def test_pardiso_is_released_with_a_gradient(monkeypatch):
    released, phases = [], direct._PardisoEngine._call

    def call(self, phase, *args):
        released.append(phase == direct._RELEASE)
        return phases(self, phase, *args)

    monkeypatch.setattr(direct._PardisoEngine, "_call", call)
    gc.disable()
    try:
        gradient(hung(), ["gravity"])
    finally:
        gc.enable()
    assert sum(released) >= 2  # the run and the one that checks it
