"""Springs: energies phi(q(x)) of one or two coordinates q of points, rails and joints.

Read ``spring`` first: it builds kernels from the functions of a coordinate and of a law. A kind of
spring is a file that says only these. The law of springs and ropes is in ``spring_law``, distances
from places, lines and rails (in NumPy: ``rail``) in ``distance``. ``point_springs`` attach points
until they are released (``release``), ``goals`` draw them to moving places, ``bonds`` pull pairs of
points together, ``ring_spacing`` keeps rings on a rail apart. Rigid bodies have
``joint_coordinates``, on which the guides, motors and limits of ``joint_springs`` act.
"""
