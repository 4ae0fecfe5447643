"""weft: cloth simulation that reads like the papers. Data flows through one pipeline, from left to
right:

fabric + mesh -> discretization -> laws psi(F) -> energies E(x) -> model, state -> integrator
-> simulation -> files, pictures

A membrane law is a function of the deformation gradient F alone. A discretization defines the
samples at which F is evaluated. An integrator minimizes one incremental potential per step. Every
law therefore works with every discretization and every integrator.

Public names are loaded when they are first used, so that ``import weft`` is fast.
"""

from importlib import import_module

# Type checkers treat this name as True. It is not imported, because loading the module typing takes
# longer than the rest of this file.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from weft import adjoint as adjoint
    from weft import contact as contact
    from weft import integrators as integrators
    from weft import jax as jax
    from weft import laws as laws
    from weft import torch as torch
    from weft.adjoint.adjoint import Adjoint as Adjoint
    from weft.adjoint.differences import check_derivatives as check_derivatives
    from weft.adjoint.parameters import Parameter as Parameter
    from weft.base import errors as errors
    from weft.base.errors import WeftError as WeftError
    from weft.base.keyframes import Keys as Keys
    from weft.bodies.motion.pins import Keyframe as Keyframe
    from weft.bodies.motion.pins import Path as Path
    from weft.bodies.motion.pins import Pin as Pin
    from weft.cloth.attachments.goal import Goal as Goal
    from weft.cloth.attachments.gripper import Gripper as Gripper
    from weft.cloth.attachments.ropes import Rope as Rope
    from weft.cloth.attachments.ropes import Spring as Spring
    from weft.cloth.attachments.slide import Slide as Slide
    from weft.cloth.attachments.to_body import AttachToBody as AttachToBody
    from weft.cloth.attachments.to_cloth import AttachCloth as AttachCloth
    from weft.cloth.cloth import Cloth as Cloth
    from weft.cloth.create import as_splines as as_splines
    from weft.cloth.create import join as join
    from weft.cloth.create import load as load
    from weft.cloth.create import sheet as sheet
    from weft.cloth.create import spline_sheet as spline_sheet
    from weft.cloth.create import triangulate as triangulate
    from weft.cloth.rod import rod as rod
    from weft.contact.settings import SelfContact as SelfContact
    from weft.discretization.mesh import TriangleMesh as TriangleMesh
    from weft.energies.air.gusts import Gusts as Gusts
    from weft.energies.air.wind import Wind as Wind
    from weft.energies.elastic.buckling_bending import BucklingForm as BucklingForm
    from weft.energies.elastic.condition import ConditionForm as ConditionForm
    from weft.energies.elastic.condition import Conditions as Conditions
    from weft.energies.elastic.condition import Variant as Variant
    from weft.energies.elastic.condition import condition_energies as condition_energies
    from weft.energies.elastic.pressed_lines import Pressed as Pressed
    from weft.energies.energy_per_vertex import vertex_energy as vertex_energy
    from weft.energies.loads.pressure import Gas as Gas
    from weft.energies.springs.hand import Hand as Hand
    from weft.energies.springs.release import Held as Held
    from weft.energies.springs.release import Release as Release
    from weft.energies.state import State as State
    from weft.fabric.fabric import Fabric as Fabric
    from weft.fabric.fabric import FabricMap as FabricMap
    from weft.integrators.adaptive import Adaptive as Adaptive
    from weft.integrators.adaptive import AdaptiveSettings as AdaptiveSettings
    from weft.integrators.backward_euler import BackwardEuler as BackwardEuler
    from weft.integrators.baraff_witkin_1998 import BaraffWitkin1998 as BaraffWitkin1998
    from weft.integrators.baraff_witkin_1998 import Settings1998 as Settings1998
    from weft.integrators.base import StepReport as StepReport
    from weft.integrators.base import StepSettings as StepSettings
    from weft.integrators.bdf2 import Bdf2 as Bdf2
    from weft.integrators.model import Model as Model
    from weft.integrators.quasi_static import QuasiStatic as QuasiStatic
    from weft.integrators.quasi_static import QuasiStaticSettings as QuasiStaticSettings
    from weft.integrators.semi_implicit_bdf2 import SemiImplicitBdf2 as SemiImplicitBdf2
    from weft.integrators.semi_implicit_bdf2 import SemiImplicitSettings as SemiImplicitSettings
    from weft.live.play_view import play as play
    from weft.run.recorded_scene import scene_of as scene_of
    from weft.run.run import Run as Run
    from weft.run.simulate import simulate as simulate
    from weft.scene.changes import Change as Change
    from weft.scene.membrane_law import physics as physics
    from weft.scene.prepare import Simulation as Simulation
    from weft.scene.prepare import prepare as prepare
    from weft.scene.scene import Scene as Scene
    from weft.show.looks import Field as Field
    from weft.solve.linear.constraints import Constraint as Constraint
    from weft.solve.linear.solver import Outcome as Outcome
    from weft.solve.linear.solver import Stop as Stop
    from weft.solve.newton.psd import Psd as Psd

_HOME = {
    "Adjoint": "weft.adjoint.adjoint",
    "Adaptive": "weft.integrators.adaptive",
    "AdaptiveSettings": "weft.integrators.adaptive",
    "AttachCloth": "weft.cloth.attachments.to_cloth",
    "AttachToBody": "weft.cloth.attachments.to_body",
    "BackwardEuler": "weft.integrators.backward_euler",
    "BaraffWitkin1998": "weft.integrators.baraff_witkin_1998",
    "Bdf2": "weft.integrators.bdf2",
    "BucklingForm": "weft.energies.elastic.buckling_bending",
    "Change": "weft.scene.changes",
    "Cloth": "weft.cloth.cloth",
    "ConditionForm": "weft.energies.elastic.condition",
    "Conditions": "weft.energies.elastic.condition",
    "Constraint": "weft.solve.linear.constraints",
    "Fabric": "weft.fabric.fabric",
    "FabricMap": "weft.fabric.fabric",
    "Field": "weft.show.looks",
    "Gas": "weft.energies.loads.pressure",
    "Goal": "weft.cloth.attachments.goal",
    "Gripper": "weft.cloth.attachments.gripper",
    "Gusts": "weft.energies.air.gusts",
    "Hand": "weft.energies.springs.hand",
    "Held": "weft.energies.springs.release",
    "Keyframe": "weft.bodies.motion.pins",
    "Keys": "weft.base.keyframes",
    "Model": "weft.integrators.model",
    "Outcome": "weft.solve.linear.solver",
    "Parameter": "weft.adjoint.parameters",
    "Path": "weft.bodies.motion.pins",
    "Pin": "weft.bodies.motion.pins",
    "Pressed": "weft.energies.elastic.pressed_lines",
    "Psd": "weft.solve.newton.psd",
    "QuasiStatic": "weft.integrators.quasi_static",
    "QuasiStaticSettings": "weft.integrators.quasi_static",
    "Release": "weft.energies.springs.release",
    "Rope": "weft.cloth.attachments.ropes",
    "Run": "weft.run.run",
    "Scene": "weft.scene.scene",
    "Simulation": "weft.scene.prepare",
    "SelfContact": "weft.contact.settings",
    "SemiImplicitBdf2": "weft.integrators.semi_implicit_bdf2",
    "SemiImplicitSettings": "weft.integrators.semi_implicit_bdf2",
    "Settings1998": "weft.integrators.baraff_witkin_1998",
    "Slide": "weft.cloth.attachments.slide",
    "Spring": "weft.cloth.attachments.ropes",
    "State": "weft.energies.state",
    "StepReport": "weft.integrators.base",
    "StepSettings": "weft.integrators.base",
    "Stop": "weft.solve.linear.solver",
    "TriangleMesh": "weft.discretization.mesh",
    "Variant": "weft.energies.elastic.condition",
    "WeftError": "weft.base.errors",
    "Wind": "weft.energies.air.wind",
    "as_splines": "weft.cloth.create",
    "check_derivatives": "weft.adjoint.differences",
    "condition_energies": "weft.energies.elastic.condition",
    "join": "weft.cloth.create",
    "load": "weft.cloth.create",
    "play": "weft.live.play_view",
    "physics": "weft.scene.membrane_law",
    "prepare": "weft.scene.prepare",
    "scene_of": "weft.run.recorded_scene",
    "rod": "weft.cloth.rod",
    "sheet": "weft.cloth.create",
    "simulate": "weft.run.simulate",
    "spline_sheet": "weft.cloth.create",
    "triangulate": "weft.cloth.create",
    "vertex_energy": "weft.energies.energy_per_vertex",
}

__version__ = "0.1.0"
_MODULES = {
    "adjoint": "weft.adjoint",
    "contact": "weft.contact",
    "errors": "weft.base.errors",
    "extensions": "weft.extensions",
    "integrators": "weft.integrators",
    "jax": "weft.jax",
    "laws": "weft.laws",
    "torch": "weft.torch",
}
__all__ = [*_MODULES, *_HOME]


def __getattr__(name: str) -> "Any":
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    if name in _MODULES:
        return import_module(_MODULES[name])
    if not name.startswith("_"):
        return _of_plugin(name)
    raise AttributeError(f"module 'weft' has no attribute {name!r}")


def _of_plugin(name: str) -> "Any":
    """Return a public name of a plugin.

    Raises:
        AttributeError: no plugin has it, or that plugin is not installed.
    """
    from importlib.util import find_spec  # takes longer to load than the rest of this file

    # `from weft import kernel` asks for a name of a package before it imports the package.
    if find_spec(f"weft.{name}") is not None:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    from weft import extensions

    if name in extensions.names("names"):
        return extensions.find("names", name)
    needed = extensions.missing(name)
    raise AttributeError(str(needed or f"module 'weft' has no attribute {name!r}"))


def __dir__() -> list[str]:
    from weft import extensions

    return sorted([*globals(), *__all__, *extensions.names("names")])
