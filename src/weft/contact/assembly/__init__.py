"""The system matrix with contact.

Read ``contact_matrix`` first: it joins the elastic pattern with the blocks of contact pairs.
``lumped_pairs`` puts pairs that came near late in a step on the diagonal. ``embedding`` relates
surface vertices to the points of the simulation, x = W c (B-splines); the product A + W^T H W is
that of ``solve.sparse.pull_back``.
"""
