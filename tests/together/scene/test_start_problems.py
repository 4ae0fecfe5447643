"""Problems of the start are classed by what becomes of them, the same by ``check`` and ``run``."""

import numpy as np
import pytest
from typer.testing import CliRunner

from weft.base.errors import Outlook
from weft.cli.commands import app
from weft.contact import sphere
from weft.run.check_scene import check

PATTERN = """
panels:
  front:
    outline: [{{at: [-10 cm, 0], edge: hem}}, {{at: [10 cm, 0], edge: right}},
              {{at: [10 cm, 10 cm], edge: top}}, {{at: [-10 cm, 10 cm], edge: left}}]
    placement: {{translation: [0, 0, {front}]}}
  back: {{copy: front, placement: {{translation: [0, 0, -20 cm], rotation: [0, 180, 0]}}}}
seams:
  left: [front.left, back.right]
  right: [front.right, back.left]
"""
SCENE = """
cloth: {{garment: {{pattern: tube.yaml, size: 4 cm, start: pattern}}}}
bodies: [{{name: ball, sphere: {{radius: {radius}, size: 5 cm}}}}]
contact: {{gap: 2 mm}}
seconds: 0.1
"""


def write_scene(folder, radius, front="25 cm"):
    (folder / "tube.yaml").write_text(PATTERN.format(front=front))
    (folder / "scene.yaml").write_text(SCENE.format(radius=radius))
    return folder / "scene.yaml"


def say(folder, command):
    """Return what a command says about the scene."""
    more = () if command == "check" else ("--out", str(folder / "run"), "--frames", "0")
    return CliRunner().invoke(app, [command, str(folder / "scene.yaml"), *more])


@pytest.mark.parametrize("command", ["check", "run"])
def test_open_seams_close_by_themselves(command, tmp_path):
    write_scene(tmp_path, "10 cm")
    done = say(tmp_path, command)
    assert done.exit_code == 0
    assert f"{Outlook.RESOLVES.value}: 2 seams are open by up to 45 cm" in done.output


def test_a_panel_inside_a_body_does_not_come_out(tmp_path):
    with pytest.warns(UserWarning, match=f"{Outlook.CANNOT.value}: panels front are inside ball"):
        write_scene(tmp_path, "18 cm", "-6 cm")
        assert say(tmp_path, "run").exit_code == 0
    assert any(
        f"{Outlook.CANNOT.value}: panels front" in w
        for w in check(tmp_path / "scene.yaml").warnings
    )
    room = check(write_scene(tmp_path, "1 m")).warnings
    assert not any(Outlook.CANNOT.value in w for w in room), "all panels are in the room"


@pytest.mark.parametrize("radius, outlook", [("25.2 cm", Outlook.MAY), ("28.3 cm", Outlook.CANNOT)])
def test_what_intersects_may_be_untangled(radius, outlook, tmp_path):
    scene = write_scene(tmp_path, radius)
    (error,) = check(scene).errors
    assert outlook.value in str(error)
    done = say(tmp_path, "run")
    assert done.exit_code != 0 and str(error) == str(done.exception.problems[0])
    assert ("`resolve: true`" in str(error)) == (outlook is Outlook.MAY), "no advice that fails"


def test_a_start_that_cannot_be_resolved_is_one_problem(tmp_path):
    scene = write_scene(tmp_path, "28.3 cm")
    scene.write_text(
        SCENE.format(radius="28.3 cm").replace("gap: 2 mm", "gap: 2 mm, resolve: true")
    )
    (error,) = check(scene).errors
    assert "contact.resolve" in str(error)


@pytest.mark.parametrize("hole", [0, 3])
def test_what_a_body_contains(hole):
    body = sphere(0.1, 0.03)
    body = type(body)(body.vertices, body.faces[hole:, ::-1])
    inside = body.contains(np.array([[0.0, 0.0, 0.05], [0.0, 0.0, 0.11], [0.3, 0.0, 0.0]]))
    assert inside.tolist() == [True, False, False]
