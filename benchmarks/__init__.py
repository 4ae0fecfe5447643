"""Benchmarks, one file per subject (``weft bench``). They report; nothing depends on them."""
