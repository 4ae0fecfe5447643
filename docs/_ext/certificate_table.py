"""The table of experiments of ``weft validate``, from their modules."""

from scene_reference import cell, table

from weft.plugins.lab.validate.runner import names, part_of, topic

HEADS = ("experiment", "compares", "part")
PARTS = {"fast": "", "all": "`--all`"}


def markdown() -> str:
    """All experiments in the order in which they run."""
    rows = [[f"`{name}`", cell(topic(name)), PARTS[part_of(name)]] for name in names()]
    return table(HEADS, rows)
