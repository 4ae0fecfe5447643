"""Every benchmark runs to its end."""

import pytest

from benchmarks.__main__ import main
from benchmarks.runner import names

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", names())
def test_a_benchmark_ends(name, capsys):
    assert main([name]) == 0, capsys.readouterr().err
