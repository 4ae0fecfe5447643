"""Play from Python and from the command line, with a simulation of a small sheet."""

import html
import json

import numpy as np
import pytest

import weft
from tests.engine.live.test_server import ask
from tests.together.cli.test_cli import run as run
from weft.base.errors import SimulationError
from weft.io.obj import write_obj
from weft.live.mesh_scene import write_mesh_scene
from weft.live.order import Order
from weft.live.process import SimulationProcess
from weft.live.server import PlayServer
from weft.scene.build import load_scene


def test_a_scene_of_python_is_played():
    cloth = weft.sheet(5, 5, width=0.2, height=0.2)
    view = weft.play(weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))]), port=0)
    try:
        assert html.escape(view.url) in view._repr_html_() and view.url in repr(view)
        server = view._server
        assert b'"vertices": 25' in ask(server, "")[1]
        assert ask(server, "say", b'[{"do": "step"}]') == (200, b"{}")
        number, header = -1, {"t": 0.0}
        while header["t"] == 0:
            status, data = ask(server, f"next?after={number}")
            if status == 200:
                length = int.from_bytes(data[:4], "little")
                header = json.loads(data[4 : 4 + length])
                number = header["number"]
        cloth = np.frombuffer(data, "<f4", header["counts"]["cloth"], 4 + length).reshape(-1, 3)
        assert cloth.shape == (25, 3) and header["status"]["intersections"] == 0
        status, text = ask(server, "say", b'[{"do": "save", "what": "scene"}]')
        assert status == 409 and b"a scene that Python made" in text
    finally:
        view.close()
    assert not view._thread.is_alive()
    view.close()  # a second time does nothing


@pytest.mark.parametrize("tilt, place", [(0, "bodies"), (90, "pins")])
def test_a_mesh_lies_above_a_sphere_or_hangs(tmp_path, tilt, place):
    """Also without texture coordinates, and in centimeters."""
    sheet = weft.sheet(7, 9, width=30, height=40)
    x = np.array(sheet.vertices)
    x = x[:, [0, 2, 1]] if tilt else x
    write_obj(tmp_path / "a.obj", x, sheet.faces, sheet.corner_uv)
    lines = (tmp_path / "a.obj").read_text().splitlines()
    bare = [" ".join(w.split("/")[0] for w in s.split()) for s in lines if s[:2] in ("v ", "f ")]
    (tmp_path / "a.obj").write_text("\n".join(bare) + "\n")
    write_mesh_scene(tmp_path / "a.obj", tmp_path / "a.scene.yaml", 0.01)
    scene = load_scene(tmp_path / "a.scene.yaml").scene
    assert np.ptp(scene.cloth.vertices, axis=0).max() == pytest.approx(0.4)
    assert scene.cloth.fabric.name == "linen"
    assert bool(scene.bodies) == (place == "bodies")
    assert sum(len(p.vertices) for p in scene.pins) == (7 if place == "pins" else 0)


def test_the_command_serves_a_mesh_and_keeps_its_scene(tmp_path, monkeypatch, run):
    def serve(server):
        names.append(server.process.page().about["name"])
        server.process.close()

    names = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(PlayServer, "serve", serve)
    sheet = weft.sheet(5, 6, width=30, height=40)
    write_obj(tmp_path / "a.obj", np.array(sheet.vertices), sheet.faces, sheet.corner_uv)
    for _ in range(2):
        words = ("--scale", "1 cm", "--no-browser", "--port", "0")
        status, out, _ = run("play", "a.obj", *words)
        assert status == 0 and "serving  http://127.0.0.1:" in out and "a.scene.yaml" in out
        scene = (tmp_path / "a.scene.yaml").read_text()
        (tmp_path / "a.scene.yaml").write_text(scene.replace("linen", "silk"))
    assert "silk" in (tmp_path / "a.scene.yaml").read_text()
    assert names == ["a.scene", "a.scene"]


def test_a_missing_folder_of_saved_files_is_made(tmp_path, monkeypatch, run):
    """From the command line and from Python; what cannot be made is named."""

    def serve(server):
        assert save(server.process)["saved"] == str(out / "a.scene-1.yaml")
        server.process.close()

    def save(process):
        return process.say([{"do": "save", "what": "play"}])

    out = tmp_path / "new" / "one"
    sheet = weft.sheet(5, 6, width=0.3, height=0.4)
    write_obj(tmp_path / "a.obj", np.array(sheet.vertices), sheet.faces, sheet.corner_uv)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(PlayServer, "serve", serve)
    words = ("play", "a.obj", "--no-browser", "--port", "0", "--out")
    assert run(*words, "new/one")[0] == 0
    assert (out / "a.scene.yaml").exists() and not (tmp_path / "a.scene.yaml").exists()
    load_scene(out / "a.scene-1.yaml")
    status, _, err = run(*words, "a.obj/in")
    assert status == 2 and "cannot make folder" in err
    monkeypatch.undo()
    view = weft.play(out / "a.scene.yaml", out=tmp_path / "python" / "made", port=0)
    try:
        save(view._server.process)
    finally:
        view.close()
    assert (tmp_path / "python" / "made" / "a.scene-1.yaml").exists()


def test_warnings_about_the_scene_are_printed(tmp_path, capfd):
    """Those of a run: here of a body that goes back and forth inside a step."""
    (tmp_path / "scene.yaml").write_text(
        "cloth: {sheet: {nx: 4, ny: 4}}\n"
        "bodies: [{name: ball, sphere: {radius: 1 cm}, translation: [1, 0, 0], path: {"
        "hold: true, keyframes: [{time: 0}, {time: 5 ms, translation: [10 cm, 0, 0]}, {time: 10 ms}"
        "]}}]\n"
        "contact: {gap: 1 mm}\nstep: 20 ms\n"
    )
    process = SimulationProcess(Order(None, tmp_path / "scene.yaml", folder=tmp_path))
    try:
        process.say([])
    finally:
        process.close()
    assert "warning: ball" in capfd.readouterr().err


def test_a_process_that_cannot_start_or_ends_is_named(tmp_path, monkeypatch):
    scene = tmp_path / "scene.yaml"
    scene.write_text("cloth: {sheet: {nx: 4, ny: 4, width: 10 cm, height: 10 cm}}\n")
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/bin/false")
        with pytest.raises(SimulationError, match="ended"):
            SimulationProcess(Order(None, scene))
    process = SimulationProcess(Order(None, scene))
    process.page()
    assert process.say([{"do": "step"}]) == {}
    process._process.kill()
    with pytest.raises(SimulationError, match="ended"):
        process.say([{"do": "step"}])
    process.close()
