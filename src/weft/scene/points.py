"""The points of a scene: of the cloth, anchors of its pins and rigid bodies; and what ties them."""

from weft.base.memoize import memoize
from weft.bodies.rigid.energies import check_rigid
from weft.bodies.rigid.rigid_bodies import RigidBodies
from weft.cloth.attachments import Attached, attached, check_stretch
from weft.scene.scene import Scene
from weft.scene.spline_pins import PinnedPoints, pin_points


@memoize
def pinned_points(scene: Scene) -> PinnedPoints:
    """Return the pins of a scene as pins of points, with anchors and springs of splines."""
    return pin_points(scene.cloth, tuple(scene.pins))


@memoize
def rigid_bodies(scene: Scene) -> RigidBodies:
    """Return the rigid bodies of a scene, each as four points after all points of the cloth.

    Raises:
        SceneError: a rigid body that the integrator cannot move.
    """
    found = RigidBodies.of(scene.bodies, len(pinned_points(scene).points))
    check_rigid(found, scene.integrator_name, airless=scene.wind is None)
    return found


@memoize
def attached_points(scene: Scene) -> Attached:
    """Return the attachments of a scene, as energies of its points.

    Raises:
        SceneError: an attachment that is not possible, or that would stretch the cloth by half.
    """
    reach = None
    if scene.contact is not None:
        own = [p.contact_distance() for p in scene.cloth.parts] + [
            r.contact_distance() for r in scene.cloth.regions
        ]
        own += [b.thickness for b in scene.bodies]
        known = [k for k in own if k is not None]
        reach = scene.contact.gap + max([scene.contact.thickness, *known])
    made = attached(
        scene.attachments, scene.cloth, scene.prescribed_bodies, reach, rigid_bodies(scene)
    )
    check_stretch(scene.cloth, scene.pins, made.links)
    return made
