"""Garment patterns drawn flat.

``pattern_sheet`` draws a pattern as PNG, ``svg_writer`` writes it to scale as SVG, ``nest`` has all
sizes on one sheet, ``layout`` arranges panels on a sheet.
"""
