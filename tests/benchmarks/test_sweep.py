"""`python -m benchmarks sweep`: its folders are what they say, and its measures are named."""

from benchmarks import sweep
from benchmarks.runner import names


def test_a_folder_of_many_samples(tmp_path):
    """Nine tenths done, one tenth to run: it asserts that itself."""
    found = {m.name: m for m in sweep._many(tmp_path, 200)}
    assert "sweep" in names() and len(found) == 4
    whole = found.pop("sweep/200 samples, all three")
    assert whole.target == 5.0 and whole.value == sum(m.value for m in found.values())
