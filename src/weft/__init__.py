"""weft: cloth simulation that reads like the papers. One pipeline, from left to right:

fabric + mesh -> discretization -> laws psi(F) -> energies E(x) -> model, state -> integrator
-> simulation -> files, pictures

A membrane law is a function of the deformation gradient F alone; a discretization says where F is
sampled; an integrator minimizes one incremental potential. So every law runs on every
discretization under every integrator.

Public names are loaded when first used, so that ``import weft`` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft import laws as laws
    from weft.cloth import Cloth as Cloth
    from weft.cloth import load as load
    from weft.cloth import sheet as sheet
    from weft.errors import WeftError as WeftError
    from weft.fabric import Fabric as Fabric
    from weft.integrators.backward_euler import BackwardEuler as BackwardEuler
    from weft.integrators.base import StepReport as StepReport
    from weft.integrators.base import StepSettings as StepSettings
    from weft.laws.base import Psd as Psd
    from weft.mesh import TriangleMesh as TriangleMesh
    from weft.model import Model as Model
    from weft.pins import Keyframe as Keyframe
    from weft.pins import Path as Path
    from weft.pins import Pin as Pin
    from weft.run import Run as Run
    from weft.run import simulate as simulate
    from weft.scene.scene import Scene as Scene
    from weft.solve.base import Outcome as Outcome
    from weft.state import State as State

_HOME = {
    "BackwardEuler": "weft.integrators.backward_euler",
    "Cloth": "weft.cloth",
    "Fabric": "weft.fabric",
    "Keyframe": "weft.pins",
    "Model": "weft.model",
    "Outcome": "weft.solve.base",
    "Path": "weft.pins",
    "Pin": "weft.pins",
    "Psd": "weft.laws.base",
    "Run": "weft.run",
    "Scene": "weft.scene.scene",
    "State": "weft.state",
    "StepReport": "weft.integrators.base",
    "StepSettings": "weft.integrators.base",
    "TriangleMesh": "weft.mesh",
    "WeftError": "weft.errors",
    "load": "weft.cloth",
    "sheet": "weft.cloth",
    "simulate": "weft.run",
}

__version__ = "0.1.0"
__all__ = ["laws", *_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name == "laws":
        return import_module("weft.laws")
    raise AttributeError(f"module 'weft' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
