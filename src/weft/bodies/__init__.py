"""Bodies that cloth meets: their shapes, their motion, and rigid bodies with joints.

``body`` is the triangle mesh that contact sees. ``shapes`` makes meshes (spheres, plates, surfaces
of revolution, height fields and distance grids), ``motion`` moves them (keyframed paths and pins,
sequences of positions, animated files), ``rigid`` lets cloth move them, and ``joints`` connects
rigid bodies. ``nearest_points`` finds the point of a surface that is nearest to another point.
"""
