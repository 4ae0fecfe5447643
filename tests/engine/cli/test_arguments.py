"""An empty argument, such as a shell variable that is not set, is no path."""

import pytest

from tests.command import call_weft
from tests.refusals import refused
from weft.base.errors import RunError, WeftError
from weft.cli.groups import check_arguments
from weft.run.run_folder import RunFolder

SCENE = "cloth: {sheet: {nx: 2, ny: 2, fabric: cotton}}\nframes: 0\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "s.yaml", "--out="],
        ["run", "s.yaml", "--out", " "],
        ["sweep", "run", "s.yaml", "--out", ""],
        ["render", "run", ""],
        ["mannequin", ""],
    ],
)
def test_empty_ones_are_named(arguments):
    with refused(WeftError, got="nothing", hint="`.`") as caught:
        check_arguments(arguments)
    assert caught.value.what.split("=")[0].split()[-1] in " ".join(arguments)


def test_others_are_taken():
    check_arguments(["run", "s.yaml", "--out", ".", "--set", "cloth.name=", "--json", "-q", "--"])


def test_nothing_is_written_into_the_current_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(SCENE)
    status, _, err = call_weft(monkeypatch, capsys, "run", "s.yaml", "--out", "")
    assert status == 2 and "error: --out = nothing" in err
    assert [p.name for p in tmp_path.iterdir()] == ["s.yaml"]


@pytest.mark.parametrize("path", ["", " ", None])
def test_folders_without_a_name(path):
    with refused(RunError, "run folder"):
        RunFolder(path)
