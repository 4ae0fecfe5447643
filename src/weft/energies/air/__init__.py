"""Forces of the air: wind, gusts, lift and drag.

Read in this order: ``wind`` has the settings, ``gusts`` describes how the wind varies in space and
time, and ``lift_and_drag`` is the force on cloth. ``examples/plugin_air`` adds the inertia of the
air and velocities on a grid.
"""
