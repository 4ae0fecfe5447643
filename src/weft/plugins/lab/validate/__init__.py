"""The physical certificate: comparisons with closed forms and published answers (``weft
validate``).

Every module is one experiment. Its first line says what it compares, and its ``checks`` yields rows
of the certificate. Read ``check`` (a row) and ``runner`` (runs experiments by name) first, then an
experiment such as ``hanging_strip``. Several experiments share ``strip`` (models of strips and
sheets, and their equilibrium), ``stepping`` (steps one after another), ``modes`` (normal modes) and
``rigid`` (rigid bodies).
"""
