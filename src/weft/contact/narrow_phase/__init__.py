"""The narrow phase: decide which candidate pairs are in contact.

Read ``classify`` first: it computes the closest features of each candidate pair, and keeps each
contact once. ``distance_bounds`` rejects pairs that are certainly apart without computing their
distance. ``adjacent_pairs`` gives pairs that edges of the mesh connect a smaller gap.
"""
