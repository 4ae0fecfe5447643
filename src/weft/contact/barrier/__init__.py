"""The barrier energy of pairs that are closer than the gap (Li et al. 2020).

``barrier`` has the value, gradient and Hessian of one pair, ``exact_hessian`` its second derivative
without projection, ``by_constants`` and ``set_by_constants`` the mixed derivatives by stiffness,
gap and thickness. ``stiffness`` adapts the stiffness to what presses. ``gap_schedule`` and
``thickness_schedule`` hold values that change in time. ``kinks`` finds positions where the second
derivative of the barrier jumps.
"""
