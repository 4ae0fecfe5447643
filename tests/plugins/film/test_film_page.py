"""The recipes for film (docs/guides/film.md): its commands and scripts, on the assets of
examples/film."""

import sys
from shutil import copytree
from types import SimpleNamespace

import numpy as np
import pytest

import weft
from tests.tutorials import DOCS, run

FILM = DOCS.parent / "examples" / "film"
pxr = pytest.importorskip("pxr.Usd", reason="no usd-core")


@pytest.mark.slow
def test_the_recipes(tmp_path, monkeypatch):
    """A layer that has the run's points in the world; Houdini's scripts, with a stand-in for it."""
    from pxr import UsdGeom

    page = (DOCS / "guides" / "film.md").read_text()
    command = '["/home/me/venv/bin/weft"]'
    assert command in page and "preroll: 5 " in page
    page = page.replace(command, repr([sys.executable, "-m", "weft.cli.main"]))
    page = page.replace('("PYTHONHOME", "PYTHONPATH")', '("PYTHONHOME",)')  # finds this weft
    given = {}
    geometry = SimpleNamespace(setPointFloatAttribValuesFromString=given.__setitem__)
    hou = SimpleNamespace(
        pwd=lambda: SimpleNamespace(geometry=lambda: geometry), intFrame=lambda: 1010
    )
    monkeypatch.setitem(sys.modules, "hou", hou)
    copytree(FILM, tmp_path, dirs_exist_ok=True)
    run(page, tmp_path)

    simulated = weft.Run(tmp_path / "run")
    x = 100 * simulated.positions(1010 - 996)
    in_shot = np.stack([x[:, 0], -x[:, 2], x[:, 1]], axis=1)
    houdini = np.frombuffer(given["P"], np.float32).reshape(-1, 3)
    np.testing.assert_allclose(houdini, in_shot, atol=1e-5)
    stage = pxr.Stage.Open(str(tmp_path / "cape_sim_stage.usda"))
    prim = stage.GetPrimAtPath("/shot/cape/geo/cape")
    matrix = np.array(UsdGeom.XformCache(1010).GetLocalToWorldTransform(prim))
    points = np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get(1010))
    np.testing.assert_allclose(points @ matrix[:3, :3] + matrix[3, :3], in_shot, atol=1e-5)
    assert stage.GetStartTimeCode() == 1001 and len(simulated) == 18
    moved = simulated.positions(17) - simulated.positions(0)
    assert np.linalg.norm(moved, axis=1).max() > 0.05  # she bends
