"""Cameras of robots: color, depth and labels."""
