"""The narrow phase: decide which candidate pairs are in contact.

Read ``classify`` first: it computes the closest features of each candidate pair, and keeps each
contact once. ``distance_bounds`` and ``separating_axis`` reject pairs that are certainly apart
without computing their distance: the first for single candidates with a known bound, the second
for eight primitives at a time during the broad phase. ``adjacent_pairs`` gives pairs that edges of
the mesh connect a smaller gap.
"""
