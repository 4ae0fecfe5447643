"""One file a format: what reads and writes it. ``weft.io`` lists them."""
