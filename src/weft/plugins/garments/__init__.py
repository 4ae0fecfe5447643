"""Garments: sewing patterns, bodies that wear them, and the quality of the fit."""
