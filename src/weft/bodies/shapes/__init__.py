"""Shapes of bodies: primitives, surfaces of revolution, height fields and distance grids."""
