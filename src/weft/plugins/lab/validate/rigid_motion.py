"""Rigid motions of any size: no elastic force, and no damping force over a step."""

import numpy as np

from weft.discretization.mesh import grid
from weft.energies.state import State
from weft.plugins.lab.validate.check import Rows, compare
from weft.plugins.lab.validate.free_fall import MATERIAL
from weft.plugins.lab.validate.stepping import gradient
from weft.plugins.lab.validate.strip import NO_WEIGHT, strip_model

# [N] stretch stiffness times an edge length: the force at a strain of 1
FORCE_SCALE = MATERIAL.stretch * 0.1


def checks() -> Rows:
    """Compare the largest force over the force scale with zero."""
    from scipy.spatial.transform import Rotation

    mesh = grid(11, 9, 1.0, 0.8, "random")
    turn = Rotation.from_euler("xyz", [40.0, -110.0, 75.0], degrees=True)
    cases = {
        "translation": mesh.vertices + np.array([3.0, -1.0, 0.5]),
        "rotation": turn.apply(np.array(mesh.vertices)) + np.array([0.0, 2.0, 0.0]),
    }
    model = strip_model(mesh, MATERIAL, [], NO_WEIGHT, damping=0.01)
    start = State.at_rest(mesh.vertices)
    for name, x in cases.items():
        for part, span in (("elastic", np.inf), ("damping", 0.01)):
            model.assembly.freeze(model.step(start, 0.01, rate=(start.x, span)))
            force = float(np.abs(gradient(model.assembly, x)).max()) / FORCE_SCALE
            yield compare(f"rigid-motion/{name}-{part}", 0.0, force, 1e-12)
