"""Cloth that is layered on an asset: fitted to its surface, and exported on it."""
