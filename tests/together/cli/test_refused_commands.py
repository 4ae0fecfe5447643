"""A command that is refused leaves no file and no folder."""

from pathlib import Path

import pytest

import weft
from tests.command import call_weft
from tests.refusals import refused
from weft.base.errors import SceneError

SKIRT = Path("examples/garments/garmentcode/pencil_skirt_specification.json").absolute()
SCENE = "cloth: {sheet: {nx: 4, ny: 4}}\npins: [{corners: top}]\nseconds: 0.1\nfps: 20\n"
SHEET = "v 0 0 0\nv 1 0 0\nv 0 0 1\nvt 0 0\nvt 1 0\nvt 0 1\nf 1/1 2/2 3/3\n"
FILES = {
    "scene.yaml": SCENE,
    "sweep.yaml": "scene: scene.yaml\nvary: {cloth.sheet.nxx: [4, 5]}\n",
    "sheet.obj": SHEET,
}

COMMANDS = [
    ("run", SKIRT, "--set", "fps=fast"),
    ("run", SKIRT, "--set", "cloth.garment.siz=3 cm"),
    ("run", SKIRT, "--set", "fps"),
    ("check", SKIRT, "--set", "fps=fast"),
    ("play", SKIRT, "--set", "fps=fast", "--no-browser", "--out", "new/one"),
    ("play", "sheet.obj", "--set", "fps=fast", "--no-browser", "--out", "new/one"),
    ("play", "nothing.yaml", "--no-browser", "--out", "new/one"),
    ("grade", SKIRT.with_name("nothing.yaml"), "--sizes", "36"),
    ("sweep", "run", "sweep.yaml", "--out", "new/one"),
    ("sweep", "plan", "sweep.yaml", "--out", "new/one"),
    ("run", "scene.yaml", "--out", "new/one", "--frames", "99999999"),
    ("run", "scene.yaml", "--out", "new/one", "--from", "1"),
    ("run", "scene.yaml", "--out", "new/one", "--preview", "new/a.png"),
    ("run", "scene.yaml", "--out", "new/one", "--preview", "a.txt"),
    ("check", "scene.yaml", "--picture", "a.txt"),
    ("check", SKIRT, "--picture", "a"),
    ("landmarks", "sheet.obj", "--picture", "a.jpg"),
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(map(str, words))[-60:])
def test_a_refused_command_leaves_no_file(words, folder, monkeypatch, capsys):
    status, out, err = call_weft(monkeypatch, capsys, *words)
    assert status in (1, 2) and "error" in out + err
    assert sorted(p.name for p in folder.iterdir()) == sorted(FILES)


def test_sizes_of_a_scene_without_the_garment(folder, monkeypatch, capsys):
    skirt = Path(__file__).parents[3] / "examples/garments/patterns/skirt.yaml"
    words = "grade", skirt, "--sizes", "36", "--wear", "scene.yaml"
    status, _, err = call_weft(monkeypatch, capsys, *words)
    assert status == 2 and "no garment skirt.yaml" in err
    assert sorted(p.name for p in folder.iterdir()) == sorted(FILES)


@pytest.mark.parametrize("out", [None, "new/one"])
def test_a_run_without_room_on_the_disk(out, folder, monkeypatch):
    monkeypatch.setattr("weft.io.files.disk", lambda folder: 1000)
    with refused(SceneError, "seconds, fps", expected="that are free"):
        weft.simulate("scene.yaml", out=out, progress=False)
    assert sorted(p.name for p in folder.iterdir()) == sorted(FILES)
