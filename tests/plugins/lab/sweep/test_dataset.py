"""Data sets: what xarray and pyarrow read is what was simulated, within the stated error."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tests.plugins.lab.sweep.conftest import SCENE, run_samples_of
from tests.refusals import refused
from weft.base.errors import RunError, SweepError
from weft.plugins.lab.sweep.dataset import DatasetOptions, rounding_error, write_dataset
from weft.plugins.lab.sweep.file import read_sweep
from weft.plugins.lab.sweep.folder import prepare
from weft.run.run import Run

xarray = pytest.importorskip("xarray")
pytest.importorskip("zarr")
pytest.importorskip("h5netcdf")
VARY = "cloth.sheet.nx: [4, 6]\n  cloth.fabric: [silk, cotton]\n  gravity.1: [-9.81, -3.0]"
OPEN = {
    "zarr": lambda p: xarray.open_zarr(p),
    "h5": lambda p: xarray.open_dataset(p, engine="h5netcdf"),
    "nc": lambda p: xarray.open_dataset(p, engine="h5netcdf"),
}


@pytest.fixture(scope="module")
def sweep(tmp_path_factory):
    """Eight samples of two meshes, all done but one that failed."""
    place = tmp_path_factory.mktemp("sweep")
    (place / "scene.yaml").write_text(SCENE)
    vary = VARY.replace("silk, cotton", "silk, cotton, koton")
    text = f"scene: scene.yaml\nvary:\n  {vary}\nkeep: {{converged: true, static: 0.7 m/s}}\n"
    (place / "sweep.yaml").write_text(text)
    return run_samples_of(prepare(read_sweep(place / "sweep.yaml"), place / "out"))


@pytest.mark.parametrize(
    "suffix, quantum", [("zarr", None), ("zarr", 1e-4), ("h5", 1e-4), ("nc", None)]
)
def test_xarray_reads_what_was_simulated(sweep, tmp_path, suffix, quantum):
    made = write_dataset(sweep, tmp_path / f"o.{suffix}", DatasetOptions(quantum))
    data = OPEN[suffix](made.path)
    assert data.sizes["sample"] == made.samples == 8 and made.left_out == {"failed": 4}
    assert data.sizes["vertex"] == 30 and data.face.dtype == np.int32
    assert made.error <= (quantum or 0) / 2 * (1 + 1e-9)
    by_id = {s.id: s for s in sweep.plan}
    for k, name in enumerate(data.id.values):
        sample = by_id[str(name)]
        run = Run(sweep.place(sample) / "run")
        n = int(data.n_vertices[k])
        x = data.position.values[k, 0]
        assert n == run.mesh.n_vertices and np.isnan(x[n:]).all()
        np.testing.assert_allclose(x[:n], run.positions(), rtol=0, atol=made.error + 1e-15)
        faces, m = data.face.values[k], len(run.faces)
        np.testing.assert_array_equal(faces[:m], run.faces)
        assert (faces[m:] == -1).all()
        assert float(data["param.gravity.1"][k]) == sample.values["gravity.1"]
        assert str(data["param.cloth.fabric"].values[k]) == sample.values["cloth.fabric"]
        speed = np.linalg.norm(run.folder.frame(1)["v"], axis=1).max()
        assert float(data.speed_end[k]) == pytest.approx(speed)
    assert data.speed_end.attrs["units"] == "m/s"
    flags = data["flag.static"].values
    np.testing.assert_array_equal(flags, data.speed_end.values <= 0.7)
    assert 0 < flags.sum() < 8 and (data["flag.strain"].values == 255).all()
    np.testing.assert_array_equal(data["flag.good"], flags)
    about = json.loads(data.attrs["sweep"])
    assert (about["seed"], about["threads"], about["design"]) == (0, 1, "grid")
    assert about["vary"]["gravity.1"] == "[-9.81, -3.0]" and about["scene_digest"]
    assert about["keep"] == {"converged": True, "static": 0.7}
    assert json.loads(data.attrs["left_out"]) == made.left_out
    assert json.loads(data.attrs["options"])["quantum"] == quantum


def test_parquet(sweep, tmp_path):
    pq = pytest.importorskip("pyarrow.parquet")
    made = write_dataset(sweep, tmp_path / "o.parquet", DatasetOptions(None))
    table = pq.read_table(made.path)
    assert table.num_rows == 8
    shape = json.loads(table.schema.field("position").metadata[b"shape"])
    for row in table.to_pylist():
        sample = sweep.sample(row["id"])
        x = np.array(row["position"]).reshape(shape)[0, : row["n_vertices"]]
        np.testing.assert_array_equal(x, Run(sweep.place(sample) / "run").positions())
        assert row["param.cloth.sheet.nx"] == sample.values["cloth.sheet.nx"]


def test_what_cannot_be_written(sweep, planned, tmp_path):
    with refused(SweepError, "data set", got=".csv", expected=".zarr"):
        write_dataset(sweep, tmp_path / "o.csv")
    (tmp_path / "o.zarr").mkdir()
    with refused(SweepError, "data set", got="o.zarr"):
        write_dataset(sweep, tmp_path / "o.zarr")
    with refused(SweepError, "data set", got="no sample"):
        write_dataset(planned(), tmp_path / "p.zarr")
    with refused(SweepError, "--quantise", got="-1.0 m"):
        DatasetOptions(quantum=-1.0)


def test_options(sweep, tmp_path):
    usual = xarray.open_zarr(write_dataset(sweep, tmp_path / "o.zarr").path)
    options = DatasetOptions(frames="all", chunk=1, good_only=True)
    made = write_dataset(sweep, tmp_path / "p.zarr", options)
    data = xarray.open_zarr(made.path)
    assert made.samples < 8 and made.left_out["not good"] == 8 - made.samples
    assert (data["flag.good"].values == 1).all()
    np.testing.assert_allclose(data.time, [[0, 0.1]] * made.samples)
    assert usual.position.encoding["chunks"][0] > 1
    assert data.position.encoding["chunks"] == (1, 2, 30, 3)
    good = usual["flag.good"].values == 1
    np.testing.assert_array_equal(data.position[:, 1], usual.position[good, 0])


def test_quantisation_is_within_half_a_step():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3)) * 10.0 ** rng.uniform(-6, 2, (100, 1))
    for quantum in (1e-2, 1e-4, 1e-6):
        assert 0.4 * quantum < rounding_error(x, quantum) <= quantum / 2 * (1 + 1e-9)
    with refused(SweepError, "--quantise", expected="0.00047 m"):
        rounding_error(np.array([[1e6, 0, 0]]), 1e-6)


@pytest.mark.parametrize("suffix, package", [("parquet", "pyarrow"), ("zarr", "dask")])
def test_a_package_that_is_missing_is_named(sweep, tmp_path, monkeypatch, suffix, package):
    for name in (package, f"{package}.parquet", f"{package}.array"):
        monkeypatch.setitem(sys.modules, name, None)
    with refused(SweepError, "data set", got=package, hint="weft[data]"):
        write_dataset(sweep, tmp_path / f"o.{suffix}")


FULL = """
import resource, sys
from weft.cli.main import main
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
folder, *suffixes = sys.argv[1:]
for suffix in suffixes:
    sys.argv = ["weft", "dataset", folder, f"o.{suffix}"]
    try:
        main()
    except SystemExit as error:
        print(suffix, error.code)
"""


@pytest.mark.campaign
def test_a_full_disk_is_named(sweep, tmp_path):
    """And nothing of the data set stays. One process writes all formats, because it takes seconds
    to start.
    """
    pytest.importorskip("resource")
    suffixes = ("zarr", "h5", "nc", "parquet")
    command = [sys.executable, "-c", FULL, str(sweep.path), *suffixes]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [f"{suffix} 2" for suffix in suffixes]
    errors = " ".join(done.stderr.split())
    assert all(f"cannot write o.{suffix}" in errors for suffix in suffixes)
    assert errors.count("free some space") == len(suffixes) and "Traceback" not in errors
    assert list(tmp_path.iterdir()) == []


def test_room_is_looked_for_before_the_work(sweep, tmp_path, monkeypatch):
    monkeypatch.setattr("weft.io.files.disk", lambda _: 1000)
    with refused(SweepError, "data set", where=str(tmp_path)):
        write_dataset(sweep, tmp_path / "o.h5")
    assert list(tmp_path.iterdir()) == []
    assert write_dataset(sweep, tmp_path / "o.zarr").samples == 8  # compressed: nobody knows


def test_a_run_that_was_changed_is_named(planned, tmp_path):
    """And no half of a data set stays."""
    sweep = run_samples_of(planned(), 2)
    frames = [sweep.place(s) / "run/frames/000001.npz" for s in sweep.plan[:2]]
    frames[0].write_bytes(frames[1].read_bytes())
    with refused(RunError, sweep.plan[0].id):
        write_dataset(sweep, tmp_path / "o.zarr")
    assert not [p for p in tmp_path.iterdir() if "o.zarr" in p.name]
