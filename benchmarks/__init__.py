"""Benchmarks, one file per subject, run from a clone by ``make bench NAME=...`` or ``python -m
benchmarks NAME``. They report; nothing depends on them.
"""
