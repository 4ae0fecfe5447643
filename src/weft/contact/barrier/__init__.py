"""The barrier energy of pairs that are closer than the gap (Li et al. 2020).

Read ``barrier`` first: it has the value, gradient and projected Hessian of one pair.
``exact_hessian`` has the second derivative without projection. ``stiffness`` adapts the stiffness
to the forces that press. ``kinks`` finds positions where the second derivative of the barrier
jumps.
"""
