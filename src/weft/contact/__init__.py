"""Contact of cloth with itself and with bodies, with friction; cloth never passes through anything.

The method is incremental potential contact (Li et al. 2020), and folders have the names that
ipc-toolkit gives them. Read in this order:

``contact``: the settings ``SelfContact``, and ``Contact``, which holds for a whole simulation.
``collision_groups``: what meets what, thickness, coefficients of friction. ``collision_mesh``: the
triangles of cloth and bodies.

``distance``: closest points of the pairs point-triangle and edge-edge, and the mollifier of edges.
``barrier``: energy, gradient and Hessian of a pair, and its adaptive stiffness. ``contact_set``:
the pairs in contact, as data.

``broad_phase``: candidate pairs, whose boxes overlap (``candidate_search`` is the entry to it).
``narrow_phase``: which of them are in contact. ``ccd``: how far a step may go. ``detector`` joins
these for one minimization; what it proposes before the host knows the lengths of lists, it confirms
when they are read.

``friction``: lagged Coulomb friction as a potential. ``assembly``: the matrix with the blocks of
pairs, and the map between points and vertices.

``frozen_contact``: contact in one step, as a value. Its clients take it: ``contact_energy`` has the
value, gradient and Hessian for the minimizer, ``contact_barrier`` the limits of a step,
``derivatives`` the derivatives of a run. ``contact_term`` is all three, the term of a model.
``contact_workspace``: what one step after another uses again.

Besides these, ``exact`` checks that nothing intersects, ``untangling`` removes intersections at the
start, ``memory`` names what a step leaves to the next, ``contact_report`` has figures of a step,
and ``contact_forces`` evaluates forces for pictures. Bodies are defined in
``weft.bodies``; their public names are offered here, too.
"""

from weft.bodies.body import Body
from weft.bodies.joints.settings import Joint
from weft.bodies.motion.animated_files import load_animated, load_cached
from weft.bodies.motion.point_sequence import BodyFrames, load_frames
from weft.bodies.rigid.settings import Rigid
from weft.bodies.shapes.grids import (
    distance_grid,
    height_field,
    read_distance_grid,
    read_heights,
)
from weft.bodies.shapes.primitives import box, capsule, load_body, plate, ring, sphere
from weft.bodies.shapes.revolved import cone, cylinder, disk, plane
from weft.contact.exact.intersections import intersections
from weft.contact.settings import Between, Friction

__all__ = [
    "Between",
    "Body",
    "BodyFrames",
    "Friction",
    "Joint",
    "Rigid",
    "box",
    "capsule",
    "cone",
    "cylinder",
    "disk",
    "distance_grid",
    "height_field",
    "intersections",
    "load_animated",
    "load_body",
    "load_cached",
    "load_frames",
    "plane",
    "plate",
    "read_distance_grid",
    "read_heights",
    "ring",
    "sphere",
]
