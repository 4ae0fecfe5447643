"""Fit files of tests."""


def fit_file(folder, *blocks, head="start: cotton\n", name="fit.yaml"):
    """The path of a fit file whose measurements are blocks in YAML, without braces."""
    path = folder / name
    rows = "".join(f"  - {{{block}}}\n" for block in blocks)
    path.write_text(f"{head}measurements:\n{rows}")
    return path
