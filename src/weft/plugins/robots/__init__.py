"""Robots: arms, grippers, cameras, tasks for learning, and batches of worlds."""
