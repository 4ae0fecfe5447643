"""Fabrics from what laboratories measure: one least-squares fit over any kinds of measurement."""
