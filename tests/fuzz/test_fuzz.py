"""A seeded part of the campaigns, and properties of what reads text; under a minute in all."""

import contextlib
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fuzz import campaign as fuzz
from tests.fuzz.campaign import KINDS, campaign
from weft.base.errors import SceneError, UnitError, WeftError
from weft.base.units import to_si
from weft.base.yaml_lines import parse_yaml
from weft.fabric.fabric import fabric
from weft.io.archive import Broken, arrays_of
from weft.io.safe_folder import SafeFolder
from weft.run.metrics_log import MetricsLog
from weft.run.sealed_file import Seal, SealError, read_sealed, write_sealed
from weft.scene.file import Source, read_source, validate

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

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "cloth",
                    "sheet",
                    "nx",
                    "fabric",
                    "preset",
                    "pins",
                    "vertices",
                    "bodies",
                    "mesh",
                    "file",
                ]
            )
            | st.text(max_size=4),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
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
@given(values)
def test_any_tree_is_a_scene_or_named_problems(tree):
    try:
        validate(Source(Path("s.yaml"), tree, {}))
    except WeftError as error:
        assert str(error)


@quick
@given(values)
def test_any_fabric_is_one_or_a_named_error(tree):
    try:
        fabric(tree if isinstance(tree, dict | str) else {"preset": tree})
    except WeftError as error:
        assert str(error)


@quick
@given(st.text(max_size=30) | st.from_regex(r"[0-9.e+-]{1,9} ?[a-zA-Z/*^0-9µ·²-]{0,9}"))
def test_any_quantity_is_a_number_or_a_named_error(text):
    try:
        assert isinstance(to_si(text, "m"), float)
    except UnitError as error:
        assert len(str(error)) < 3000


@quick
@given(st.lists(st.text(max_size=25), max_size=3))
def test_any_override_is_taken_or_a_named_error(tmp_path_factory, sets):
    path = tmp_path_factory.mktemp("set") / "s.yaml"
    path.write_text("cloth: {sheet: {nx: 5, ny: 5}}\npins: [{corners: top}]\n")
    try:
        validate(read_source(path, sets))
    except WeftError as error:
        assert str(error)


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


@quick
@given(st.binary(max_size=300), st.integers(0, 400), st.integers(0, 255))
def test_any_bytes_after_or_in_lines_of_metrics_are_noticed(tmp_path_factory, data, place, value):
    folder = SafeFolder(tmp_path_factory.mktemp("log"), fsync=False)
    log = MetricsLog(folder)
    for step in range(3):
        log.append({"step": step, "frame": 1}, {})
    lines, rest = log.read()
    assert [line.record["step"] for line in lines] == [0, 1, 2] and not rest
    path = folder.locate("metrics.jsonl")
    whole = bytearray(path.read_bytes())
    path.write_bytes(bytes(whole) + data)
    assert log.read() == (lines, data)
    whole[place % len(whole)] ^= value
    path.write_bytes(whole)
    found, rest = log.read()
    assert found == lines[: len(found)] and bool(rest) == bool(value)
