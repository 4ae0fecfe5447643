"""Derivatives of contact by what a step and its constants give it, for gradients of runs.

``contact_slopes`` joins them for the end of one step: derivatives by the start of the step, by
bodies, by what friction remembers, and by rest positions. ``sliding_pairs`` and
``sliding_pair_slopes`` have those of friction, ``mollifier_slopes`` those by rest lengths of
nearly parallel edges, ``by_constants`` those by gap, thickness, stiffness and friction.
``contact_energy`` offers them as the methods of ``energies.derivative.DifferentiableTerm``.
"""
