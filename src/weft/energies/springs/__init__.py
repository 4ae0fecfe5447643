"""Springs: energies phi(q(x)) of one coordinate q of points, rails and joints.

``point_springs`` attach points to places, to one another and to rails (``rail``) until they let go
(``release``). ``bonds`` pull pairs of points together. ``rigid_rings`` and ``ring_spacing`` are
rings on a pole. ``joint_springs``, ``guides``, ``motors`` and ``joint_limits`` act on rigid bodies
through ``joint_coordinates``.
"""
