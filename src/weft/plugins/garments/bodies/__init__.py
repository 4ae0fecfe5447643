"""Landmarks, sections and sizes of standing bodies."""
