"""Arms from URDF and MJCF files, read by MuJoCo: every link with collision geometry is a body."""

import xml.etree.ElementTree as ET
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from weft.base.arrays import Angles, Point
from weft.base.errors import SceneError, check_known
from weft.base.keyframes import Keys
from weft.base.runtime_types import checked
from weft.base.settings import Size
from weft.base.units import to_si
from weft.bodies.body import Body, join_faces, join_positions
from weft.bodies.joints.arm import Arm, ArmJoint, ArmLink, frame
from weft.bodies.joints.motors import Drive
from weft.bodies.joints.settings import Joint
from weft.bodies.rigid.settings import Rigid
from weft.bodies.shapes.primitives import box, capsule, plate, sphere
from weft.bodies.shapes.revolved import cylinder
from weft.io.extra import optional

UPRIGHT = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # z is up in files, y in weft
FAR = 20.0  # [m] sides of a plane without end
NO_MASS = 1e-9  # [kg, kg m^2] of links that have none
YIELDS = 1e-4  # [m] way of a finger from its target at which its drive reaches the force limit


@checked(SceneError, unchecked=("joints",))
def load_arm(
    path: str | Path,
    joints: Mapping[str, Any] | None = None,
    translation: Point = (0.0, 0.0, 0.0),
    rotation: Angles = (0.0, 0.0, 0.0),
    *,
    size: Size = 0.02,
    name: str = "arm",
) -> list[Body]:
    """Load a robot arm from a URDF or MJCF file: a body for each link with collision geometry.

    Bodies are called ``NAME.LINK``. The z axis of the file is up, as y in weft.

    Args:
        path: the file.
        joints: targets by joint: a number [rad or m], text with a unit, ``weft.Keys``, or as in a
            scene file ``{"keys": [["0 s", "10 deg"]], "force": "5 N"}``. Others stay at 0, or at
            the end of their range next to it.
        translation: (3,) [m] of the base, after its rotation.
        rotation: of the base about x, y and z in turn [degrees].
        size: [m] edges of primitive shapes.
        name: of the arm.

    Raises:
        SceneError: a file that is damaged or lacks a mesh, a joint that is not a hinge or slide, a
            loop, an unknown joint, a target out of its range, or MuJoCo is not installed.
    """
    from scipy.spatial.transform import Rotation

    path = Path(path)
    mujoco = optional("mujoco", "arms", f"{name}: arms from files", SceneError)
    m = _compile(mujoco, path, name)
    tree = _joints(mujoco, m, name, path)
    leaders, given = [j for k, j in enumerate(tree) if j.leader == k], dict(joints or {})
    for joint in given:
        check_known(joint, [j.name for j in leaders], f"{name}.joints", SceneError)
    read = {j.name: _target(j, given.get(j.name), f"{name}.joints.{j.name}") for j in leaders}
    turns = Rotation.from_quat(m.body_quat, scalar_first=True).as_matrix()
    places = np.array([frame(*place) for place in zip(turns, m.body_pos)])
    base = Rotation.from_euler("xyz", rotation, degrees=True).as_matrix() @ UPRIGHT
    places[0] = frame(base, np.asarray(translation))
    links = [m.body(k).name or f"link {k}" for k in range(m.nbody)]
    parents = np.where(np.arange(m.nbody) > 0, m.body_parentid, -1)
    arm = Arm(name, links, parents, places, tree, {n: keys for n, (keys, _) in read.items()})
    limits = {j.link: read[tree[j.leader].name][1] for j in tree}
    meets = (m.geom_contype | m.geom_conaffinity) != 0
    bodies = []
    for k in range(m.nbody):
        own = np.flatnonzero(meets & (m.geom_bodyid == k))
        parts = [_shape(mujoco, m, g, float(size), name) for g in own.tolist()]
        if parts:
            bodies.append(link_body(arm, k, parts, float(m.body_mass[k]), limits.get(k)))
    if not bodies:
        raise SceneError(
            name, got="no link with collision geometry", expected="at least one", where=path
        )
    return bodies


def _compile(mujoco: ModuleType, path: Path, name: str) -> Any:
    """Return MuJoCo's model of a file, with all links.

    Raises:
        SceneError: a file that is damaged, or a mesh that is not there.
    """
    try:
        root = ET.fromstring(path.read_bytes())
        if root.tag == "robot":
            spec = mujoco.MjSpec.from_string(_urdf(root, path))
        else:
            spec = mujoco.MjSpec.from_file(str(path))
        spec.compiler.fusestatic = False  # links keep their names
        # Links without mass and with odd inertia are fine: targets move them.
        spec.compiler.boundmass = spec.compiler.boundinertia = NO_MASS
        spec.compiler.balanceinertia = True
        return spec.compile()
    except (OSError, ValueError, ET.ParseError, mujoco.FatalError) as error:
        raise SceneError(
            name, got=" ".join(str(error).split()), expected="a URDF or MJCF file", where=path
        ) from None


def _urdf(root: ET.Element, path: Path) -> str:
    """Return a URDF file without what is only seen, and with the paths of meshes that are there."""
    for link in root.iter("link"):
        for seen in link.findall("visual"):
            link.remove(seen)
    for mesh in root.iter("mesh"):
        given = mesh.get("filename", "")
        inside = given.partition("://")[2] or given  # after package:// or file://
        tried = [folder / inside for folder in (path.parent, *path.resolve().parents)]
        there = next((p for p in tried if p.is_file()), path.parent / inside)
        mesh.set("filename", str(there.resolve()))
    for extension in root.findall("mujoco"):
        root.remove(extension)
    ET.SubElement(ET.SubElement(root, "mujoco"), "compiler", strippath="false")
    return ET.tostring(root, encoding="unicode")


def _joints(mujoco: ModuleType, m: Any, name: str, path: Path) -> list[ArmJoint]:
    """Return the joints of a model.

    Raises:
        SceneError: a joint that is not a hinge or slide, or a loop.
    """
    kinds = [mujoco.mjtJoint(kind).name for kind in m.jnt_type]
    zero = m.qpos0[m.jnt_qposadr]
    follows: dict[int, tuple[int, float, float]] = {}
    for e in np.flatnonzero(m.eq_active0):
        one, other, rule = int(m.eq_obj1id[e]), int(m.eq_obj2id[e]), m.eq_data[e]
        if m.eq_type[e] == mujoco.mjtEq.mjEQ_JOINT and other >= 0 and not np.any(rule[2:5]):
            shift = zero[one] + rule[0] - rule[1] * zero[other]
            follows[one] = other, float(rule[1]), float(shift)
        else:
            kinds.append(mujoco.mjtEq(m.eq_type[e]).name)
    if odd := set(kinds) - {"mjJNT_HINGE", "mjJNT_SLIDE"}:
        raise SceneError(
            f"{name}.joints",
            got=", ".join(sorted(odd)),
            expected="hinges and slides of a tree of links, and joints that mimic in proportion",
            where=path,
            hint="open loops at a joint; `translation` and `rotation` place the base",
        )
    made = []
    for k, kind in enumerate(kinds):
        leader, factor, offset = k, 1.0, 0.0
        for _ in follows:
            if leader in follows:
                leader, part, shift = follows[leader]
                factor, offset = factor * part, offset + factor * shift
        low, high = m.jnt_range[k] if m.jnt_limited[k] else (-np.inf, np.inf)
        title, link, slides = m.joint(k).name or f"joint {k}", int(m.jnt_bodyid[k]), "SLIDE" in kind
        line = np.array(m.jnt_axis[k]), np.array(m.jnt_pos[k])
        ends = float(low), float(high), float(zero[k])
        made.append(ArmJoint(title, link, slides, *line, *ends, leader, factor, offset))
    return made


def _target(joint: ArmJoint, value: Any, what: str) -> tuple[Keys, float | None]:
    """Return the keyframes of a joint, and the largest force [N] with which it closes.

    Raises:
        SceneError: a target out of the joint's range, or the force of a hinge.
    """
    if isinstance(value, Keys):
        value = {"keys": value.points, "between": value.between}
    elif not isinstance(value, Mapping):
        rest = min(max(0.0, joint.low), joint.high)
        value = {"keys": [[0.0, rest if value is None else value]]}
    timed, between = Keys.read({n: v for n, v in value.items() if n != "force"}, what)
    numbers = [(t, to_si(v, joint.unit, what)) for t, v in timed]
    keys = Keys.of(numbers, between, what, SceneError)
    joint.check(np.array(keys.values), what)
    if "force" not in value:
        return keys, None
    force = to_si(value["force"], "N", f"{what}.force")
    if not (joint.slides and force > 0):
        got = f"{force:g} N of a {'slide' if joint.slides else 'hinge'}"
        raise SceneError(f"{what}.force", got=got, expected="a force above 0 for a slide")
    return keys, force


def link_body(
    arm: Arm, number: int, parts: Sequence[Body], mass: float, force: float | None
) -> Body:
    """Return the body of a link; a finger is pushed to its target by a drive.

    Args:
        arm: the arm.
        number: of the link.
        parts: its surfaces, in its frame.
        mass: [kg] of a finger.
        force: [N] the largest of its drive; None: it is no finger.

    Raises:
        SceneError: a finger with links beyond it.
    """
    link, rigid = ArmLink(arm, number, join_positions(parts, 0.0)), None
    name = f"{arm.name}.{arm.links[number]}"
    if force is not None:
        if number in arm.parents:
            raise SceneError(
                name,
                got="links beyond it",
                expected="the last link of the arm, because its joint has a `force`",
                hint="put the geometry of the pads into the link of the finger",
            )
        drive = Drive(place=0.0, stiffness=force / YIELDS, force=force)
        rigid = Rigid(mass=mass, joints=(Joint(kind="slider", axis=link.axis, drive=drive),))
    return Body(link.at(0.0), join_faces(parts), name=name, link=link, rigid=rigid)


def _shape(mujoco: ModuleType, m: Any, g: int, edge: float, name: str) -> Body:
    """Return the surface of a geometry, in the frame of its link.

    Raises:
        SceneError: a geometry that is no mesh and no primitive.
    """
    from scipy.spatial.transform import Rotation

    kind = mujoco.mjtGeom(m.geom_type[g]).name.removeprefix("mjGEOM_").lower()
    a, b, c = map(float, m.geom_size[g])
    primitives: Mapping[str, Callable[[float], Body]] = {
        "sphere": partial(sphere, a, mesh=True),
        "ellipsoid": partial(sphere, max(a, b, c), mesh=True),
        "box": partial(box, (2 * a, 2 * b, 2 * c)),
        "capsule": partial(capsule, a, 2 * b, mesh=True),
        "cylinder": partial(cylinder, a, 2 * b),
        "plane": lambda _: plate(2 * a or FAR, 2 * b or FAR, FAR),
    }
    if kind == "mesh":
        k = m.geom_dataid[g]
        first, face = m.mesh_vertadr[k], m.mesh_faceadr[k]
        x = np.array(m.mesh_vert[first : first + m.mesh_vertnum[k]], dtype=np.float64)
        made = Body(x, np.array(m.mesh_face[face : face + m.mesh_facenum[k]]))
    else:
        check_known(kind, ("mesh", *primitives), f"{name}: {m.geom(g).name} geometry", SceneError)
        made = primitives[kind](edge)
        x = made.vertices
    if kind == "ellipsoid":
        x = x * (a, b, c) / max(a, b, c)
    if kind in ("capsule", "cylinder", "plane"):
        x = x @ UPRIGHT  # of weft they lie along y, and planes across it
    turn = Rotation.from_quat(m.geom_quat[g], scalar_first=True)
    return replace(made, vertices=turn.apply(x) + m.geom_pos[g])
