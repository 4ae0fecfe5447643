"""The broad phase: find pairs of primitives whose bounding boxes overlap.

Read in this order. ``tree_order`` sorts primitives into the leaves of a binary tree. ``aabb``
encloses them in axis-aligned bounding boxes, and ``aabb_simd`` compares one box with the eight
boxes of a leaf at once. ``query`` says which boxes search and which overlapping pairs are reported.
``bvh`` is the bounding volume hierarchy and its traversal. ``pair_list`` writes the pairs that a
traversal finds, ``compaction`` removes pairs from a list. ``candidates`` holds the candidate pairs,
and ``candidate_cache`` reuses them from one search direction to the next.
"""
