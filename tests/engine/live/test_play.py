"""Play from Python and from the command line, with a simulation of a small sheet: in a process of
its own, which takes 5 s and more to start.
"""

import html
import json

import numpy as np
import pytest

import weft
from tests.engine.live.test_server import ask
from tests.together.cli.test_cli import run as run
from weft.base.errors import SimulationError
from weft.io.obj import write_obj
from weft.live.mesh_scene import mesh_scene_text
from weft.live.order import Order
from weft.live.process import SimulationProcess
from weft.live.server import PlayServer
from weft.scene.build import load_scene


@pytest.mark.campaign
def test_a_scene_of_python_is_played():
    cloth = weft.sheet(5, 5, width=0.2, height=0.2)
    view = weft.play(weft.Scene(cloth, pins=[weft.Pin(cloth.corners("top"))]), port=0)
    try:
        assert html.escape(view.url) in view._repr_html_() and view.url in repr(view)
        server = view._server
        assert b'"vertices": 25' in ask(server, "")[1]
        assert ask(server, "say", b'[{"do": "step"}]') == (200, b"{}")
        header = {"t": 0.0, "number": -1}
        while header["t"] == 0:
            status, data = ask(server, f"next?after={header['number']}")
            if status == 200:
                header = json.loads(data[4 : 4 + int.from_bytes(data[:4], "little")])
        assert header["counts"]["cloth"] == 75 and header["status"]["intersections"] == 0
        status, text = ask(server, "say", b'[{"do": "save", "what": "scene"}]')
        assert status == 409 and b"a scene that Python made" in text
    finally:
        view.close()
    assert not view._thread.is_alive()


@pytest.mark.parametrize("tilt, place", [(0, "bodies"), (90, "pins")])
def test_a_mesh_lies_above_a_sphere_or_hangs(tmp_path, tilt, place):
    """Also without texture coordinates, and in centimeters."""
    sheet = weft.sheet(7, 9, width=30, height=40)
    x = sheet.vertices[:, [0, 2, 1]] if tilt else sheet.vertices
    lines = [f"v {a} {b} {c}" for a, b, c in x] + [f"f {a} {b} {c}" for a, b, c in sheet.faces + 1]
    (tmp_path / "a.obj").write_text("\n".join(lines) + "\n")
    file = tmp_path / "a.scene.yaml"
    scene = load_scene(file, text=mesh_scene_text(tmp_path / "a.obj", file, 0.01)).scene
    assert np.ptp(scene.cloth.vertices, axis=0).max() == pytest.approx(0.4)
    assert scene.cloth.fabric.name == "linen"
    assert bool(scene.bodies) == (place == "bodies")
    assert sum(len(p.vertices) for p in scene.pins) == (7 if place == "pins" else 0)


def test_the_command_serves_a_mesh_and_keeps_its_scene(tmp_path, monkeypatch, run):
    """In a folder that it makes, beside what is saved; what cannot be made is named."""

    def serve(server):
        assert server.process.page().about["name"] == "a.scene"
        saved.append(server.process.say([{"do": "save", "what": "play"}])["saved"])
        server.process.close()

    saved, out = [], tmp_path / "new" / "one"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(PlayServer, "serve", serve)
    sheet = weft.sheet(5, 6, width=30, height=40)
    write_obj(tmp_path / "a.obj", sheet.vertices, sheet.faces, sheet.corner_uv)
    words = ("play", "a.obj", "--scale", "1 cm", "--no-browser", "--port", "0", "--out")
    for _ in range(2):
        status, shown, _ = run(*words, "new/one")
        assert status == 0 and "serving  http://127.0.0.1:" in shown and "a.scene.yaml" in shown
        scene = (out / "a.scene.yaml").read_text()
        (out / "a.scene.yaml").write_text(scene.replace("linen", "silk"))
    assert load_scene(out / "a.scene.yaml").scene.cloth.fabric.name == "silk"
    assert saved[0] == str(out / "a.scene-1.yaml") and not (tmp_path / "a.scene.yaml").exists()
    load_scene(saved[0])
    status, _, err = run(*words, "a.obj/in")
    assert status == 2 and "cannot make folder" in err


@pytest.mark.campaign
def test_a_process_that_cannot_start_or_ends_is_named(tmp_path, monkeypatch, capfd):
    """And it prints the warnings of a run: here of a body that goes back and forth in a step."""
    scene = tmp_path / "scene.yaml"
    scene.write_text(
        "cloth: {sheet: {nx: 4, ny: 4, width: 10 cm, height: 10 cm}}\n"
        "bodies: [{name: ball, sphere: {radius: 1 cm}, translation: [1, 0, 0], path: {"
        "hold: true, keyframes: [{time: 0}, {time: 5 ms, translation: [10 cm, 0, 0]}, {time: 10 ms}"
        "]}}]\n"
        "contact: {gap: 1 mm}\nstep: 20 ms\n"
    )
    with monkeypatch.context() as patch:
        patch.setattr("sys.executable", "/bin/false")
        with pytest.raises(SimulationError, match="ended"):
            SimulationProcess(Order(None, scene, folder=tmp_path))
    process = SimulationProcess(Order(None, scene, folder=tmp_path))
    assert process.say([{"do": "step"}]) == {}
    process._process.kill()
    with pytest.raises(SimulationError, match="ended"):
        process.say([{"do": "step"}])
    process.close()
    assert "warning: ball" in capfd.readouterr().err
