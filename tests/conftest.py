import numpy as np
import pytest

from weft import kernel


def pytest_collection_modifyitems(config, items):
    """Contact's tests, the longest, come last; CUDA tests are skipped, with a reason, where there
    is no device.
    """
    items.sort(key=lambda item: "contact" in item.path.parts)  # stable: else as they were
    marked = [i for i in items if "cuda" in i.keywords]
    if not marked:
        return
    import warp as wp

    kernel.initialize()
    if not wp.get_cuda_devices():
        for item in marked:
            item.add_marker(pytest.mark.skip(reason="no CUDA device on this machine"))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def threads():
    """A function that sets the number of threads; the old number comes back afterwards."""
    before = kernel.threads()
    yield lambda n: kernel.configure(threads=n)
    kernel.configure(threads=before)
