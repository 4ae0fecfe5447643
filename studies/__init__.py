"""Figures and open questions of the papers, answered with weft (``weft reproduce NAME``): one file
per study. A study makes a table, a plot and what follows from them.
"""
