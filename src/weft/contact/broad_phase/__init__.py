"""The broad phase: find pairs of primitives whose bounding boxes overlap.

It is entered through ``candidate_search.find_candidates``, which builds the two trees and returns
``Candidates``: another broad phase takes their place there.

Read in this order. ``tree_order`` sorts primitives into the leaves of a binary tree. ``aabb``
encloses them in axis-aligned bounding boxes, and compares one box with the eight boxes of a leaf at
once. ``overlap_query`` says which boxes search and which overlapping pairs are reported, after a
test by separating axes. ``bvh`` is the bounding volume hierarchy and its traversal. ``candidates``
are the pairs that result, and how some of them are selected; ``candidate_search`` finds them, and
uses them again from one search direction to the next.
"""
