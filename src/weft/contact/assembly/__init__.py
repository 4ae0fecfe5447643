"""The system matrix with contact.

``contact_matrix`` joins the elastic pattern with the blocks of contact pairs, ``lumped_pairs`` puts
pairs that came late on the diagonal, ``embedding`` relates surface vertices to the points of the
simulation x = W c (B-splines), and ``pull_back`` computes A + W^T H W.
"""
