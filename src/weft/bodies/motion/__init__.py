"""Prescribed motion: pins and keyframed paths (``pins``), sequences of positions
(``point_sequence``), and bodies from animated files (``animated_files``).
"""
