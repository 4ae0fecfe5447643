"""The narrow phase: which candidate pairs are in contact.

``classify`` finds the closest features of each pair and keeps each contact once.
``separating_axis`` and ``distance_bounds`` discard pairs that are certainly apart without computing
their distance. ``adjacent_pairs`` gives pairs that edges of the mesh connect a smaller gap.
"""
