"""The broad phase: which boxes overlap, and so which pairs may be in contact.

``aabb`` encloses primitives in axis-aligned boxes, ``tree_order`` sorts them, ``bvh`` is the
bounding volume hierarchy and its traversal, ``aabb_simd`` compares one box with the eight boxes of
a leaf. ``query`` says who asks for which pairs; ``pair_list`` and ``compaction`` write lists of
pairs. ``candidates`` are the pairs found, ``candidate_cache`` keeps them from one search direction
to the next.
"""
