"""A seeded part of the campaigns, and properties of what reads text; under a minute in all."""

import contextlib
import io
import zipfile

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import campaign as fuzz
from tests.fuzz.campaign import KINDS, campaign
from weft.base.errors import SceneError, UnitError
from weft.base.units import to_si
from weft.base.yaml_lines import parse_yaml
from weft.io.archive import Broken, arrays_of
from weft.run.sealed_file import Seal, SealError, read_sealed, write_sealed

pytestmark = pytest.mark.campaign

SEED = 20_240_601
MOST = {"pattern": 120, "fit": 100}  # inputs of kinds that take longer; 250 of others
quick = settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.mark.parametrize("kind", KINDS)
def test_mutations(kind, monkeypatch):
    """Inputs of a fixed seed: named errors or results."""
    monkeypatch.setattr(fuzz, "PATIENCE", 10 * fuzz.PATIENCE)  # some compile kernels first
    most = MOST.get(kind, 250)
    done = campaign(float("inf"), SEED, (kind,), most=most)
    assert not done.crashes
    assert done.counts == {kind: most}


@quick
@given(st.text(max_size=200))
def test_any_text_is_a_tree_or_a_named_error(text):
    try:
        tree = parse_yaml(text, "t", SceneError)
    except SceneError as error:
        assert len(str(error)) < 3000
    else:
        assert () in tree.lines or tree.value is None


@quick
@given(st.text(max_size=30) | st.from_regex(r"[0-9.e+-]{1,9} ?[a-zA-Z/*^0-9µ·²-]{0,9}"))
def test_any_quantity_is_a_number_or_a_named_error(text):
    try:
        assert isinstance(to_si(text, "m"), float)
    except UnitError as error:
        assert len(str(error)) < 3000


@quick
@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 255))
def test_any_bytes_are_an_archive_or_a_named_error(data, place, value):
    seal = Seal("failed/step.npz", "run").over({"x": np.arange(6.0)})
    file = io.BytesIO()
    write_sealed(file, {"x": np.arange(6.0)}, seal)
    whole = bytearray(file.getvalue())
    whole[place % len(whole)] ^= value
    for changed in (data, bytes(whole)):
        with contextlib.suppress(Broken):
            arrays_of(io.BytesIO(changed))
        try:
            arrays, found = read_sealed(io.BytesIO(changed))
        except SealError:
            continue
        assert found == seal and np.array_equal(arrays["x"], np.arange(6.0))
    assert zipfile.is_zipfile(io.BytesIO(file.getvalue()))
