"""The barrier energy of pairs that are closer than the gap (Li et al. 2020).

Read ``barrier`` first: it has the value, gradient and projected Hessian of one pair.
``exact_hessian`` has the second derivative without projection, ``by_constants`` the mixed
derivatives by stiffness, gap and thickness. ``stiffness`` adapts the stiffness to the forces that
press. ``kinks`` finds positions where the second derivative of the barrier jumps.
"""
