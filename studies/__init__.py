"""Figures and open questions of the papers, answered with weft: ``make study NAME=...`` or
``python -m studies NAME``, from a clone.

One file per study. A study makes a table, a plot and what follows from them.
"""
