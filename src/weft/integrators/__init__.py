"""Integrators: a predictor and a scale; the minimizer is shared."""
