"""Twenty garments in GarmentCode's format, drafted for a body and worn by it.

In reading order: ``body_measures`` (what is drafted from), ``draft`` (panels, edges, stitches and
the JSON file), ``tops``, ``skirts``, ``trousers`` and ``catalog`` (the garments).
"""
