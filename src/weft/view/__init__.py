"""A run as one HTML file that shows itself: what goes in (``content``), how it is packed
(``packing``), the page (``page``), and notebooks (``notebook``).
"""
