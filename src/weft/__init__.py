"""weft: cloth simulation."""
