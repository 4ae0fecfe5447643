"""Loads: gravity, pressure and drag on every mass."""
