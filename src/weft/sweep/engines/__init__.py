"""Engines: where samples run. What is done is read from folders; engines only hand out work."""
