"""Cloth: a mesh made of a fabric, its regions, and what attaches it.

``create`` has ``weft.sheet``, ``weft.load`` and the other functions that make cloth; ``cloth`` is
the class, ``regions`` are faces with a fabric of their own, ``fields`` are strain, stress and other
numbers on cloth, and ``attachments`` are springs between cloth and something else.
"""
