"""The physical certificate: closed-form and published answers, one file per experiment (``weft
validate``).
"""
