"""The mannequin: mesh, skeleton and skinning weights of a figure, its poses and motions."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from weft.base.arrays import Faces, Floats, Ints, Positions
from weft.base.errors import MannequinError, check_known
from weft.base.machine import require_memory
from weft.base.runtime_types import checked
from weft.base.settings import Rate, Size, Speed, Time
from weft.io.animation import SkinnedMotion
from weft.plugins.garments.mannequin.contour import contour
from weft.plugins.garments.mannequin.gait import FootPoints
from weft.plugins.garments.mannequin.girth_fit import fit_shape
from weft.plugins.garments.mannequin.joints import NAMES, NUMBER, parents
from weft.plugins.garments.mannequin.limbs import hand_tip, heel, toe_tip
from weft.plugins.garments.mannequin.measurements import Measurements, measure_mesh
from weft.plugins.garments.mannequin.measures import Measures, measures_of
from weft.plugins.garments.mannequin.motions import POSES, FigureBody, Motion, MotionSettings, pose
from weft.plugins.garments.mannequin.skinning import bones, skin_vertices, skin_weights
from weft.plugins.garments.mannequin.stance import Stance, rotations, solve_joints

SIZE = 0.0088  # default edge length over the stature, which gives about 21 000 faces
CLEAR = 0.012  # [m] distance between hanging arms and the trunk
# More distance from hips and thighs, over the stature: they sway beneath the shoulders in a walk.
# ``HIPS`` is how far they reach above the hip joints, over the stature.
CLEAR_HIPS, HIPS = 0.015, 0.1
FINEST, COARSEST = 0.0075, 0.0125  # bounds of edge length over stature: 30 000 to 10 000 faces


@dataclass(frozen=True, eq=False)
class MotionFrames:
    """A motion, frame by frame.

    Args:
        times: (k,) [s] from 0 on.
        positions: (k,b,3) [m] vertices.
    """

    times: Floats
    positions: Floats


@checked(MannequinError, "mannequin", unchecked=("apply_stance", "move_joints"))
@dataclass(frozen=True, eq=False)
class Mannequin:
    """A figure that stands on y = 0 in its rest pose (the a-pose), looking along +z.

    Args:
        measures: the requested measures.
        vertices: (b,3) [m].
        faces: (m,3), counter-clockwise seen from outside: a closed manifold.
        joints: (J,3) [m] joints of its skeleton (``joints.NAMES``).
        skin: (b,4) joints that move every vertex.
        weights: (b,4) skinning weights of these joints; they sum to one.
    """

    measures: Measures
    vertices: Positions
    faces: Faces
    joints: Floats
    skin: Ints
    weights: Floats

    def __repr__(self) -> str:
        m = self.measures
        return (
            f"<Mannequin: {m.figure}, {100 * m.height:.0f} cm, chest {100 * m.chest:.0f}, waist "
            f"{100 * m.waist:.0f}, hips {100 * m.hips:.0f} cm\n"
            f" {len(self.vertices)} vertices, {len(self.faces)} faces>"
        )

    @staticmethod
    def of(
        figure: str = "woman", *, size: Size | None = None, **measures: Size | None
    ) -> "Mannequin":
        """Return a mannequin with these measures; the function ``mannequin`` has the details."""
        return mannequin(figure, size=size, **measures)

    @cached_property
    def measurements(self) -> Measurements:
        """Return the girths, heights and points [m] from which patterns are drafted."""
        trunk = self.faces[(self._of_arms[self.faces] < 0.5).all(1)]
        return measure_mesh(self.measures, self.vertices, self.faces, self.joints, trunk)

    @cached_property
    def _of_arms(self) -> Floats:
        """Return (b,) for every vertex the sum of its weights of arm joints."""
        arms = [NUMBER[s + n] for s in ("left_", "right_") for n in ("shoulder", "elbow", "wrist")]
        return np.asarray((self.weights * np.isin(self.skin, arms)).sum(1))

    @cached_property
    def body(self) -> FigureBody:
        """Return the properties of the figure that motions need."""
        ankle = self.joints[NUMBER["left_ankle"]]
        places = [heel(self.measures, ankle, 1.0), toe_tip(self.measures, ankle, 1.0)]
        back, tip, ball = ((p - ankle)[[2, 1]] for p in (*places, self.joints[NUMBER["left_ball"]]))
        return FigureBody(
            self.joints, self.measures.height, FootPoints(back, ball, tip), self._room()
        )

    def _room(self) -> float:
        """Return the abduction [rad] at which hanging arms clear the trunk and thighs."""
        x = self.vertices[self._of_arms < 0.05]
        shoulder, wrist = (self.joints[NUMBER[f"left_{n}"]] for n in ("shoulder", "wrist"))
        radius = self.measures.upper_arm / (2 * np.pi)
        low = shoulder[1] - np.linalg.norm(wrist - shoulder) - 0.08 * self.measures.height
        beside = x[(x[:, 1] > low) & (x[:, 1] < shoulder[1] - 3 * radius)]
        hips = self.joints[NUMBER["left_hip"], 1] + HIPS * self.measures.height
        clear = CLEAR + CLEAR_HIPS * self.measures.height * (beside[:, 1] < hips)
        aside = beside[:, 0] + radius + clear - shoulder[0]
        return float(np.arctan2(aside, shoulder[1] - beside[:, 1]).max())

    def pose_vertices(self, name: str = "a_pose") -> Positions:
        """Return the vertices (b,3) [m] in a pose: ``a_pose, t_pose, arms_down, sit``.

        Raises:
            MannequinError: an unknown pose.
        """
        check_known(name, POSES, "mannequin.pose", MannequinError)
        if name == "a_pose":
            return self.vertices
        return np.asarray(self.apply_stance(pose(self.body, name))[0])

    def apply_stance(
        self, stance: Stance, turn: Floats | None = None, shift: Floats | None = None
    ) -> Floats:
        """Return the vertices (k,b,3) [m] in k stances; ``move_joints`` has the arguments."""
        moved = self.move_joints(stance, turn, shift)
        return skin_vertices(self.vertices, self.skin, self.weights, self.joints, *moved)

    def move_joints(
        self, stance: Stance, turn: Floats | None = None, shift: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return the rotations (k,J,3,3) of the joints in space and their positions (k,J,3) [m].

        Args:
            stance: k poses.
            turn: (k,) [rad] rotation of the whole figure to its left; None: none.
            shift: (k,3) [m] translation after the rotation; None: none.
        """
        turns, places = solve_joints(stance, self.joints)
        if turn is not None:
            whole = rotations(np.outer(turn, [0.0, 1.0, 0.0]))[:, None]
            turns, places = whole @ turns, (whole @ places[..., None])[..., 0]
        if shift is not None:
            places = places + shift[:, None]
        return turns, places

    def motion(
        self,
        motion: str = "walk",
        *,
        hold: Time = 0.5,
        blend: Time = 1.0,
        cycles: float = 2,
        speed: Speed | None = None,
        forward: bool = False,
        fps: Rate = 50.0,
        seconds: Time | None = None,
    ) -> MotionFrames:
        """Return a motion that starts in the a-pose, blends into its cycles and ends at rest.

        Args:
            motion: ``a_pose, arms_down, seated, walk, turn, sit``.
            hold: [s] time in the a-pose at the beginning.
            blend: [s] time of the transition into the motion, and of the transition out of it.
            cycles: number of cycles of the motion.
            speed: [m/s] of walking; None: the free speed for the height.
            forward: walk ahead; otherwise in place, as on a treadmill.
            fps: [1/s] frames per second.
            seconds: [s] duration of the frames; None: until the figure stands still again.

        Raises:
            MannequinError: an unknown motion, or values out of range.
        """
        pace = None if speed is None else float(speed)
        settings = MotionSettings(motion, float(hold), float(blend), cycles, pace, forward)
        return self.animate(settings, fps=fps, seconds=seconds)

    def animate(
        self, settings: MotionSettings, *, fps: Rate = 50.0, seconds: Time | None = None
    ) -> MotionFrames:
        """Return a motion by its settings.

        Args:
            settings: the motion.
            fps: [1/s] frames per second.
            seconds: [s] duration of the frames; None: until the figure stands still again.

        Raises:
            MannequinError: values out of range.
        """
        last = None if seconds is None else float(seconds)
        times, motion = self._sample(settings, float(fps), last)
        return MotionFrames(times, self.apply_stance(*motion.at(times)))

    def animate_skeleton(self, settings: MotionSettings, *, fps: Rate = 50.0) -> SkinnedMotion:
        """Return the skin, and the joints in the frames of a motion; arguments as ``animate``."""
        times, motion = self._sample(settings, float(fps), None)
        own = (NAMES, parents(), self.joints, self.skin, self.weights)
        moved = self.move_joints(*motion.at(times))
        return SkinnedMotion(self.vertices, self.faces, *own, *moved, float(fps))

    def _sample(
        self, settings: MotionSettings, fps: float, seconds: float | None
    ) -> tuple[Floats, Motion]:
        """Return the times (k,) [s] of a motion's frames, and the motion."""
        if not fps <= 1000:
            raise MannequinError("mannequin.fps", got=fps, expected="> 0 and <= 1000 [1/s]")
        made = Motion(self.body, settings)
        long = made.duration if seconds is None else seconds
        if not long >= 0:
            raise MannequinError("mannequin.seconds", got=long, expected=">= 0 [s]")
        size = 2 * long * fps * self.vertices.nbytes  # of the positions, and of one copy
        require_memory(size, "mannequin.fps", f"{long * fps:.3g} frames", MannequinError)
        times = np.arange(int(np.ceil(long * fps - 1e-9)) + 1) / fps
        return times, made


@checked(MannequinError)
def mannequin(
    figure: str = "woman", *, size: Size | None = None, **measures: Size | None
) -> Mannequin:
    """Return a mannequin with these measures; missing measures follow from the tables of
    ``measures``.

    Args:
        figure: ``woman``, ``man`` or ``child``.
        size: [m] approximate length of its edges; None: 0.9 % of its height, about 21 000 faces.
        measures: [m] height, chest, waist, hips, neck, shoulders, inseam, arm, thigh, calf,
            upper_arm.

    Raises:
        MannequinError: measures out of bounds, or measures that no such shape has.
        UnitError: text that is no length.
    """
    asked = measures_of(figure, **measures)
    edge = SIZE * asked.height if size is None else float(size)
    low, high = FINEST * asked.height, COARSEST * asked.height
    if not low <= edge <= high:
        raise MannequinError(
            "mannequin.size",
            got=f"{edge:.4g} m",
            expected=f"{low:.3g} to {high:.3g} m at this height: 30 000 to 10 000 faces",
        )
    return _build(asked, edge)


@lru_cache(maxsize=4)
def _build(m: Measures, size: float) -> Mannequin:
    """Return a mannequin, cached because scenes request the same one several times."""
    shape = fit_shape(m, size)
    x, faces = contour(shape.union, size)
    low, high = float(x[:, 1].min()), float(x[:, 1].max())
    x[:, 1] = (x[:, 1] - low) * (m.height / (high - low))
    joints = shape.joints
    ends = {"head": np.array([0.0, m.height, 0.0])}
    for name, side in (("left_", 1.0), ("right_", -1.0)):
        ankle = joints[NUMBER[name + "ankle"]]
        ends[name + "wrist"] = hand_tip(
            m, joints[NUMBER[name + "wrist"]], joints[NUMBER[name + "elbow"]]
        )
        ends[name + "ball"] = toe_tip(m, ankle, side)
        ends[name + "heel"] = heel(m, ankle, side)
    skin, weights = skin_weights(x, faces, bones(joints, ends, m.height))
    for array in (x, faces, joints, skin, weights):
        array.setflags(write=False)
    return Mannequin(m, x, faces, joints, skin, weights)
