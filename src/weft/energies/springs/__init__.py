"""Springs: energies phi(q(x)) of one coordinate q of points, rails and joints.

Read in this order: ``point_springs`` attach points to places, to one another and to rails
(``rail``) until they are released (``release``); ``point_spring_kernels`` has their formulas,
``point_springs_numpy`` the same in NumPy, and ``point_springs_by_constants`` their derivatives.
``bonds`` pull pairs of points together. ``rigid_rings`` and ``ring_spacing`` are rings on a pole.
``joint_springs``, ``guides``, ``motors`` and ``joint_limits`` act on rigid bodies; the last two
through ``joint_coordinates``.
"""
