from contextlib import nullcontext

import numpy as np
import pytest
import warp as wp
from hypothesis import HealthCheck, settings

from tests.disturbance import disturbed
from tests.small_runs import made, seen  # noqa: F401 (fixtures)
from weft import kernel

# The same examples everywhere, however long the machine takes for one.
settings.register_profile(
    "weft", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("weft")


def pytest_addoption(parser):
    group = parser.getgroup("weft")
    size = "disturb the start of every simulation by this part (1e-13; tests/disturbance.py)"
    group.addoption("--disturb", type=float, default=0.0, metavar="SIZE", help=size)
    group.addoption("--disturb-seed", type=int, default=1, metavar="N", help="of its noise")


@pytest.fixture(scope="session", autouse=True)
def _disturbance(request):
    size, seed = (request.config.getoption(f"--disturb{o}") for o in ("", "-seed"))
    with disturbed(seed, size) if size else nullcontext():
        yield


def pytest_collection_modifyitems(config, items):
    """Contact's tests, the longest, come last; those that need an exact start are skipped, with a
    reason, where starts are disturbed.
    """
    items.sort(key=lambda item: "contact" in item.path.parts)  # stable: else as they were
    if config.getoption("--disturb"):
        for item in items:
            if "exact_start" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="needs a start that is not disturbed"))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(params=["cpu", "cuda"])
def device(request):
    """Runs a test on every device: what it makes has to be made in it, not at import."""
    kernel.initialize()
    if request.param == "cuda" and not wp.get_cuda_devices():
        pytest.skip("no CUDA device on this machine")
    with kernel.use(device=request.param):
        yield request.param


@pytest.fixture
def threads():
    """A function that sets the number of threads; the old number comes back afterwards."""
    before = kernel.threads()
    yield lambda n: kernel.configure(threads=n)
    kernel.configure(threads=before)
