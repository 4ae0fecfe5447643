"""Contact of cloth with itself and with bodies, with friction; cloth never passes through anything.

Read in this order: ``contact`` (the settings ``SelfContact``, and ``Contact``, which holds for a
whole simulation), ``collision_groups`` (what meets what, thickness, coefficients of friction),
``collision_mesh`` (triangles of cloth and bodies; its ``candidates`` is the one entry to the broad
phase). Then the pipeline of a step: ``broad_phase`` (candidate pairs), ``narrow_phase`` (pairs in
contact), ``distance`` (closest points, mollifier of edges), ``barrier`` (energy of a pair, its
adaptive stiffness) and ``friction``, ``contact_set`` (pairs as data), ``ccd`` (how far a step may
go), ``detector`` (joins these for one minimization), ``assembly`` (matrix with contact),
``contact_energy`` (contact as a term of the potential: where barrier and friction enter value,
gradient, Hessian and largest step). ``derivatives`` are those by parameters, ``exact`` checks that
nothing intersects, ``untangling`` removes intersections at the start, ``contact_forces`` evaluates
forces for pictures. Bodies are defined in ``weft.bodies``; their public names are offered here,
too.
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
from weft.contact.collision_groups import Friction
from weft.contact.contact import Between
from weft.contact.exact.intersections import intersections

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
