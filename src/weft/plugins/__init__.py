"""Plugins that weft ships: garments, lab, robots and film. The engine imports none of them."""
