"""Cloth: meshes with a fabric, regions, fields on cloth, and attachments.

Read ``create`` first: ``weft.sheet``, ``weft.load`` and the other functions that create cloth.
``cloth`` is the class that they return, ``regions`` are sets of faces with a fabric of their own,
``fields`` computes strain, stress and other numbers on cloth, and ``attachments`` are springs
between cloth and something else.
"""
