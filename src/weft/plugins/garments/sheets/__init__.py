"""Garment patterns drawn flat.

``pattern_sheet`` draws a pattern as PNG (with ``pen``), ``svg_writer`` writes it to scale as SVG,
``layout`` arranges panels on a sheet, ``panel_sketch`` draws a panel that no spline patch fits.
"""
