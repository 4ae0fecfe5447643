"""Shapes of bodies: primitives (``primitives``), surfaces of revolution and planes (``revolved``),
height fields and distance grids (``grids``).
"""
