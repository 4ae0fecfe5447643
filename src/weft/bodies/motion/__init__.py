"""Prescribed motion: pins and keyframed paths, sequences of positions, animated files."""
