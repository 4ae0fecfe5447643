"""Film: USD, glTF, and cloth that is layered on assets."""
