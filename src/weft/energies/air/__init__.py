"""Forces of the air: wind, gusts, lift and drag, velocity grids and added mass.

Read in this order: ``wind`` has the settings, ``gusts`` and ``wind_grid`` describe how the wind
varies in space and time, ``lift_and_drag`` is the force on cloth, ``added_mass`` the inertia of the
air that a slender strip carries with it (Lighthill 1960, 1971), and ``added_mass_kernels`` has its
kernels.
"""
