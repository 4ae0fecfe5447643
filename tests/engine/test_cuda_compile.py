"""Every kernel of weft compiles for CUDA. That needs Warp's compiler, but no device."""

import gc
import importlib
import pkgutil

import pytest
import warp as wp

import weft
from tests.engine.laws.test_laws import LAWS
from tests.engine.laws.test_own import BY_HAND, FROM_PSI, FROM_STRESS
from weft import kernel
from weft.laws import DataDriven, Measured, StrainLimit
from weft.laws.base import law_kernels
from weft.laws.viscous import Viscous

# Turing as PTX, which newer devices take too; Hopper as a binary.
TARGETS = {75: True, 90: False}


def modules():
    """Warp's modules of weft by name, with all laws' kernels made, those of generated ones too."""
    for found in pkgutil.walk_packages(weft.__path__, "weft."):
        importlib.import_module(found.name)
    line = [(0.1, 9.0)]
    more = (
        Viscous(),
        Measured((line, line), 1.0),
        StrainLimit((1.1, 1.1)),
        DataDriven([[1.0, 0.0, 1.0, 1.0]] * 6),
    )
    for law in (*LAWS.values(), *more, BY_HAND, FROM_PSI, FROM_STRESS):
        for part in law.parts:
            law_kernels(part.functions)
    kernels = [o for o in gc.get_objects() if isinstance(o, wp.Kernel)]
    return {k.module.name: k.module for k in kernels if k.module.name.startswith("weft.")}


@pytest.fixture
def compiler():
    """Architectures for which this build of Warp compiles; a test without any is skipped."""
    kernel.initialize()
    archs = wp.get_cuda_supported_archs()
    if not archs:
        pytest.skip("this build of Warp has no CUDA compiler")
    return archs


@pytest.mark.slow
@pytest.mark.parametrize("arch", TARGETS)
def test_every_module_compiles_for_cuda(arch, compiler, tmp_path):
    """To PTX or a binary that is not empty; what does not is listed with the first words of why."""
    if arch not in compiler:
        pytest.skip(f"this build of Warp does not compile for architecture {arch}")
    failed, found = {}, modules()
    assert len(found) >= 45 and "weft.law.own_same_psi.adjoint" in found
    for name, module in sorted(found.items()):
        try:
            made = wp.compile_aot_module(
                module, arch=arch, module_dir=tmp_path, use_ptx=TARGETS[arch]
            )
        except Exception as error:
            failed[name] = str(error)[:200]
            continue
        if not (len(made) == 1 and made[0].stat().st_size > 0):
            failed[name] = f"wrote {made}"
    assert not failed
