"""Minimization by Newton's method.

``minimize`` is the loop and the interface of the function that it minimizes. ``descent`` computes
the search directions: projected Newton for time steps, Newton with a shifted matrix for equilibria.
``line_search`` chooses the length of a step, and ``psd`` names the variants of the Hessian.
"""
