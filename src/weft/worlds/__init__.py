"""Many small cloths at once, independent of one another: ``weft.batch``."""
