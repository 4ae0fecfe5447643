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
    from weft import adjoint as adjoint
    from weft import contact as contact
    from weft import integrators as integrators
    from weft import laws as laws
    from weft import robotics as robotics
    from weft.adjoint.adjoint import Adjoint as Adjoint
    from weft.adjoint.parameters import Parameter as Parameter
    from weft.attachments.attachment import AttachCloth as AttachCloth
    from weft.attachments.attachment import AttachToBody as AttachToBody
    from weft.attachments.attachment import Rope as Rope
    from weft.attachments.attachment import Slide as Slide
    from weft.attachments.attachment import Spring as Spring
    from weft.attachments.gripper import Gripper as Gripper
    from weft.cloth import Cloth as Cloth
    from weft.contact.contact import SelfContact as SelfContact
    from weft.energies.air import Wind as Wind
    from weft.energies.buckling_bending import BucklingForm as BucklingForm
    from weft.energies.condensed import vertex_energy as vertex_energy
    from weft.energies.condition import ConditionForm as ConditionForm
    from weft.energies.condition import Conditions as Conditions
    from weft.energies.condition import Variant as Variant
    from weft.energies.condition import condition_energies as condition_energies
    from weft.energies.gusts import Gusts as Gusts
    from weft.energies.pressed import Pressed as Pressed
    from weft.energies.pressure import Gas as Gas
    from weft.energies.release import Held as Held
    from weft.energies.release import Release as Release
    from weft.energies.wind_grid import WindGrid as WindGrid
    from weft.errors import WeftError as WeftError
    from weft.fabric import Fabric as Fabric
    from weft.fabric import FabricFields as FabricFields
    from weft.integrators.adaptive import Adaptive as Adaptive
    from weft.integrators.adaptive import AdaptiveSettings as AdaptiveSettings
    from weft.integrators.backward_euler import BackwardEuler as BackwardEuler
    from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998 as BaraffWitkin1998
    from weft.integrators.baraff_witkin_1998 import Settings1998 as Settings1998
    from weft.integrators.base import StepReport as StepReport
    from weft.integrators.base import StepSettings as StepSettings
    from weft.integrators.bdf2 import Bdf2 as Bdf2
    from weft.integrators.quasi_static import QuasiStatic as QuasiStatic
    from weft.integrators.quasi_static import QuasiStaticSettings as QuasiStaticSettings
    from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2 as SemiImplicitBdf2
    from weft.integrators.semi_implicit_bdf2 import SemiImplicitSettings as SemiImplicitSettings
    from weft.keys import Keys as Keys
    from weft.mannequin.figure import Mannequin as Mannequin
    from weft.mesh import TriangleMesh as TriangleMesh
    from weft.model import Model as Model
    from weft.pins import Keyframe as Keyframe
    from weft.pins import Path as Path
    from weft.pins import Pin as Pin
    from weft.psd import Psd as Psd
    from weft.render.looks import Field as Field
    from weft.run import Run as Run
    from weft.run import simulate as simulate
    from weft.scene.of_run import scene_of as scene_of
    from weft.scene.scene import Scene as Scene
    from weft.solve.base import Outcome as Outcome
    from weft.solve.base import Stop as Stop
    from weft.solve.constraints import Constraint as Constraint
    from weft.sources import as_splines as as_splines
    from weft.sources import joined as joined
    from weft.sources import load as load
    from weft.sources import sheet as sheet
    from weft.sources import spline_sheet as spline_sheet
    from weft.sources import triangulate as triangulate
    from weft.state import State as State
    from weft.validate.differences import check_derivatives as check_derivatives
    from weft.worlds.batch import Batch as Batch
    from weft.worlds.batch import batch as batch
    from weft.worlds.world import Hold as Hold

_HOME = {
    "Adjoint": "weft.adjoint.adjoint",
    "Adaptive": "weft.integrators.adaptive",
    "AdaptiveSettings": "weft.integrators.adaptive",
    "AttachCloth": "weft.attachments.attachment",
    "AttachToBody": "weft.attachments.attachment",
    "BackwardEuler": "weft.integrators.backward_euler",
    "BaraffWitkin1998": "weft.integrators.baraff_witkin_1998",
    "Batch": "weft.worlds.batch",
    "Bdf2": "weft.integrators.bdf2",
    "BucklingForm": "weft.energies.buckling_bending",
    "Cloth": "weft.cloth",
    "ConditionForm": "weft.energies.condition",
    "Conditions": "weft.energies.condition",
    "Constraint": "weft.solve.constraints",
    "Fabric": "weft.fabric",
    "FabricFields": "weft.fabric",
    "Field": "weft.render.looks",
    "Gas": "weft.energies.pressure",
    "Gripper": "weft.attachments.gripper",
    "Gusts": "weft.energies.gusts",
    "Held": "weft.energies.release",
    "Hold": "weft.worlds.world",
    "Keyframe": "weft.pins",
    "Keys": "weft.keys",
    "Mannequin": "weft.mannequin.figure",
    "Model": "weft.model",
    "Outcome": "weft.solve.base",
    "Parameter": "weft.adjoint.parameters",
    "Path": "weft.pins",
    "Pin": "weft.pins",
    "Pressed": "weft.energies.pressed",
    "Psd": "weft.psd",
    "QuasiStatic": "weft.integrators.quasi_static",
    "QuasiStaticSettings": "weft.integrators.quasi_static",
    "Release": "weft.energies.release",
    "Rope": "weft.attachments.attachment",
    "Run": "weft.run",
    "Scene": "weft.scene.scene",
    "SelfContact": "weft.contact.contact",
    "SemiImplicitBdf2": "weft.integrators.semi_implicit_bdf2",
    "SemiImplicitSettings": "weft.integrators.semi_implicit_bdf2",
    "Settings1998": "weft.integrators.baraff_witkin_1998",
    "Slide": "weft.attachments.attachment",
    "Spring": "weft.attachments.attachment",
    "State": "weft.state",
    "StepReport": "weft.integrators.base",
    "StepSettings": "weft.integrators.base",
    "Stop": "weft.solve.base",
    "TriangleMesh": "weft.mesh",
    "Variant": "weft.energies.condition",
    "WeftError": "weft.errors",
    "Wind": "weft.energies.air",
    "WindGrid": "weft.energies.wind_grid",
    "as_splines": "weft.sources",
    "batch": "weft.worlds.batch",
    "check_derivatives": "weft.validate.differences",
    "condition_energies": "weft.energies.condition",
    "joined": "weft.sources",
    "load": "weft.sources",
    "scene_of": "weft.scene.of_run",
    "sheet": "weft.sources",
    "simulate": "weft.run",
    "spline_sheet": "weft.sources",
    "triangulate": "weft.sources",
    "vertex_energy": "weft.energies.condensed",
}

__version__ = "0.1.0"
_PACKAGES = ("adjoint", "contact", "integrators", "laws", "robotics")
__all__ = [*_PACKAGES, *_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _PACKAGES:
        return import_module(f"weft.{name}")
    raise AttributeError(f"module 'weft' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
