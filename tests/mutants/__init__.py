"""Mutation testing: one wrong line at a time in the source, and the tests that should find it."""
