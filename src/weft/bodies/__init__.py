"""Bodies that cloth meets: their shapes, their motion, and rigid bodies with joints.

Read ``body`` first: the triangle mesh that contact uses. ``shapes`` creates meshes (spheres,
plates, surfaces of revolution, height fields, distance grids), ``motion`` prescribes how bodies
move (keyframed paths and pins, sequences of positions, animated files), ``rigid`` contains bodies
that forces and contacts move, and ``joints`` connects rigid bodies. ``nearest_points`` finds
nearest points on a surface. ``erosion`` measures how deep points are in a closed body, and makes
it thinner. ``sections`` cuts meshes and measures the cuts with a tape;
``landmarks`` finds the landmarks and girths of a person's body with them.
"""
