"""Whatever is read, written or killed: a named error, or the right result; never anything else.

`test_fuzz.py` and `test_kills.py` run a seeded part in CI; `make fuzz` and `make kill` go on for as
long as they are let, with other seeds each time.
"""
