"""Minimization by Newton's method.

``minimize`` is the loop, and ``problem`` the interface of the function that it minimizes.
``direction`` has the interfaces of its parts: a descent proposes directions (``descent``: projected
Newton for time steps, ``shifted``: Newton with a shifted matrix for equilibria), ``line_search``
measures the length of a step, and a rule of ``stopping`` ends the search. ``newton_system`` has the
linear systems, and ``psd`` names the variants of the Hessian.
"""
