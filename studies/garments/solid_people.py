"""People of solids with fingers, toes, breasts, a face and a cap of hair, with known landmarks."""

from dataclasses import dataclass

import numpy as np

from weft.base.arrays import Faces, Floats, Positions
from weft.plugins.garments.bodies.sections import hull_perimeter
from weft.plugins.garments.mannequin.contour import relax_mesh, split_quads, surface_nets
from weft.plugins.garments.mannequin.solids import (
    Cone,
    Ellipsoid,
    Solid,
    Tube,
    Union,
    section_rows,
)

X, Y, Z = np.eye(3)
ARMS = {"a_pose": 42.0, "t_pose": 88.0, "arms_down": 17.0}  # [degrees] from the vertical
UPPER_ARM, FOREARM, PALM, FINGER = 0.16, 0.142, 0.05, 0.048  # lengths over the height
SHOULDER = 0.79  # height of the joint over the height of the body


@dataclass(frozen=True)
class SolidPerson:
    """A standing person; lengths are over the height.

    Args:
        height: [m].
        breast: radius of the breasts; 0 for none.
        belly: radius of the belly; 0 for none.
        shoulders: distance of the shoulder joints from the middle.
        chest, waist, hips: half breadths of the trunk.
        levels: heights of bust, waist and hips.
    """

    height: float = 1.7
    breast: float = 0.0
    belly: float = 0.0
    shoulders: float = 0.105
    chest: float = 0.08
    waist: float = 0.075
    hips: float = 0.1
    levels: tuple[float, float, float] = (0.72, 0.624, 0.514)

    def trunk(self) -> Union:
        """Return the solids of the trunk, legs, head and feet."""
        bust, waist, hip = self.levels
        rows = [
            (0.50, 0.98 * self.hips, 0.057, 0.073),
            (hip, self.hips, 0.058, 0.075),
            (waist, self.waist, 0.05, 0.055),
            (bust, self.chest, 0.062, 0.065),
            (0.80, self.shoulders - 0.01, 0.04, 0.05),
            (0.82, 0.05, 0.03, 0.04),
        ]
        table = np.array(rows)
        table[:, 0] = (table[:, 0] - 0.50) / 0.32
        spans = section_rows(table[:, 0], table[:, 1:])
        solids: list[Solid] = [
            Tube(0.50 * Y, Y, X, Z, 0.32, spans, (0.012, 0.01), 2.0, 0.01, "trunk")
        ]
        if self.belly:
            size = self.belly * np.array([1.3, 1.0, 1.0])
            solids.append(Ellipsoid(np.array([0, 0.585, 0.03]), size, 0.03))
        for side in (1.0, -1.0):
            if self.breast:
                center = np.array([0.05 * side, bust, 0.035])
                solids.append(Ellipsoid(center, self.breast * np.array([0.72, 0.8, 1.0]), 0.01))
            solids += self._leg(side)
        nape = np.array([0, 0.862, -0.005])
        solids += [
            Cone(np.array([0, 0.80, -0.015]), nape, (0.042, 0.031), 0.015),
            Cone(nape, np.array([0, 0.90, 0.0]), (0.031, 0.035), 0.01),
            Ellipsoid(np.array([0, 0.934, 0.01]), np.array([0.044, 0.06, 0.055]), 0.01),
            Cone(np.array([0, 0.945, 0.06]), np.array([0, 0.925, 0.072]), (0.004, 0.007), 0.005),
            Ellipsoid(np.array([0, 0.952, -0.003]), np.array([0.052, 0.048, 0.058]), 0.004),
        ]
        return Union(solids)

    def _leg(self, side: float) -> list[Cone]:
        hip, knee = np.array([0.052 * side, 0.515, 0]), np.array([0.055 * side, 0.28, 0])
        ankle, ball = np.array([0.06 * side, 0.04, -0.005]), np.array([0.065 * side, 0.015, 0.07])
        aside = side * np.array([-0.02, -0.004, 0.011, 0.024])
        toes = [
            Cone(ball + k * X, ball + 1.2 * k * X + z * Z, (0.009, 0.0065), 0.004)
            for k, z in zip(aside, (0.05, 0.045, 0.04, 0.03))
        ]
        return [
            Cone(hip, knee, (0.045, 0.032), 0.02),
            Cone(knee, ankle, (0.032, 0.021), 0.01),
            Cone(ankle - [0, 0.018, 0.015], ball, (0.021, 0.015), 0.012),
            Cone(ball - 0.02 * X, ball + 0.02 * X, (0.014, 0.013), 0.01),
            *toes,
        ]

    def joints(self, pose: str, side: float) -> dict[str, Floats]:
        """Return shoulder, elbow and wrist (3,), and the arm's directions along, ahead and out."""
        angle = np.radians(ARMS[pose])
        along = np.array([side * np.sin(angle), -np.cos(angle), 0.0])
        out = np.array([side * np.cos(angle), np.sin(angle), 0.0])
        lower = along * np.cos(0.15) + Z * np.sin(0.15)  # slightly bent
        shoulder = np.array([side * self.shoulders, SHOULDER, -0.01])
        elbow = shoulder + UPPER_ARM * along
        found = {"shoulder": shoulder, "elbow": elbow, "wrist": elbow + FOREARM * lower}
        return found | {"along": lower, "ahead": np.cross(out, lower) * side, "out": out}

    def solids(self, pose: str) -> Union:
        """Return the solids of the whole body, over the height."""
        solids: list[Solid] = [*self.trunk().solids]
        for side in (1.0, -1.0):
            at = self.joints(pose, side)
            along, wrist, ahead = at["along"], at["wrist"], at["ahead"]
            ahead = ahead * np.sign(ahead[2] + 1e-9)
            palm = wrist + PALM * along
            fan = np.linspace(-0.3, 0.24, 4)
            solids += [
                Cone(at["shoulder"], at["elbow"], (0.029, 0.024), 0.02),
                Cone(at["elbow"], wrist, (0.024, 0.0155), 0.01),
                Cone(wrist + 0.015 * along, palm + 0.014 * ahead, (0.015, 0.0095), 0.008),
                Cone(wrist + 0.015 * along, palm - 0.014 * ahead, (0.015, 0.0095), 0.008),
                Cone(
                    wrist + 0.015 * along + 0.012 * ahead,
                    wrist + 0.055 * along + 0.042 * ahead,
                    (0.009, 0.007),
                    0.006,
                ),
            ]
            for turn, long in zip(fan, (0.8, 1.0, 1.05, 0.95)):
                way = np.cos(turn) * along + np.sin(turn) * ahead
                root = palm + 0.06 * turn * ahead
                solids.append(Cone(root, root + long * FINGER * way, (0.0072, 0.006), 0.003))
        return Union(solids)

    def mesh(self, pose: str, size: float = 0.005, relax: bool = False) -> tuple[Positions, Faces]:
        """Return vertices (b,3) [m] and faces (m,3); ``size`` of the grid over the height."""
        shape = self.solids(pose)
        x, quads = surface_nets(shape, size, np.array([0.31, 0.17, 0.23]) * size)
        faces = split_quads(x, quads)
        if relax:
            x, faces = relax_mesh(shape, x, faces)
        return self.height * x, faces

    def landmarks(self, pose: str) -> dict[str, Floats]:
        """Return known points (3,) [m]; levels have their height only."""
        trunk, h = self.trunk(), self.height
        bust, waist, hip = self.levels
        middle = np.arange(0.3, 0.6, 0.0005)[:, None] * Y
        crotch = middle[trunk.distance(middle) < 0][0]
        found = {"waist": waist * Y, "hip": hip * Y, "crotch": crotch}
        found |= {"bust": bust * Y} if self.breast else {}
        for side, sign in (("left", 1.0), ("right", -1.0)):
            at = self.joints(pose, sign)
            found[f"wrist_{side}"] = at["wrist"]
            if self.breast:
                found[f"bust_{side}"] = np.array([0.05 * sign, bust, 0.035 + self.breast])
        return {name: h * p for name, p in found.items()}

    def girths(self) -> dict[str, float]:
        """Return the girths [m] of the trunk at the known levels, from its solids."""
        trunk, names = self.trunk(), ("chest", "waist", "hips")
        return {n: self.height * _girth(trunk, y) for n, y in zip(names, self.levels)}


def _girth(shape: Union, y: float) -> float:
    """Return the perimeter of the hull of a section of a shape around the axis."""
    angle = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    rays = np.stack([np.cos(angle), np.zeros(360), np.sin(angle)], axis=1)
    out = np.arange(0.0, 0.2, 0.0004)
    points = out[:, None, None] * rays + y * Y
    inside = shape.distance(points.reshape(-1, 3)).reshape(len(out), 360) < 0
    last = len(out) - 1 - np.argmax(inside[::-1], axis=0)
    return hull_perimeter(out[last][:, None] * rays[:, [0, 2]])


PEOPLE = {
    "small breasts": SolidPerson(1.62, breast=0.045, waist=0.072, hips=0.098),
    "large breasts": SolidPerson(1.7, breast=0.068, levels=(0.705, 0.632, 0.517)),
    "belly": SolidPerson(1.78, belly=0.075, waist=0.092, hips=0.1, chest=0.088, shoulders=0.112),
    "broad shoulders": SolidPerson(1.88, breast=0.0, shoulders=0.125, chest=0.092, waist=0.082),
    "child": SolidPerson(1.1, waist=0.078, hips=0.092, chest=0.08),
}
