"""Learning on ``weft.robotics``, run from a clone: ``python -m studies.robots.NAME``.

``flatten_by_gradients`` plans the way of a gripper by gradients of runs, ``clone_flatten`` clones
its behavior, ``learn_grasp`` learns by rewards, and ``record_transitions`` writes a data set of
random steps.
"""
