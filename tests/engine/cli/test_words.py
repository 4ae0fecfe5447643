"""Messages name arguments where Python is used, and options where a command is."""

import pytest

import weft
from tests.command import call_weft
from tests.refusals import refused
from weft.cli.options import say

pytestmark = pytest.mark.quick


def test_an_option_is_an_argument_in_python(tmp_path):
    scene = weft.Scene(weft.sheet(3, 3))
    made = weft.simulate(scene, frames=1, out=tmp_path / "run", progress=False)
    with refused(weft.WeftError, "run folder", hint="`resume=True`"):
        weft.simulate(scene, frames=1, out=made.path, progress=False)
    with refused(weft.WeftError, "frames", got="5:9"):
        made.animation("5:9")


def test_an_argument_is_an_option_of_a_command(capsys):
    say("`resume=True` goes on; or choose `out=`, `from_frame=3`, `frames=0:50` or ``x=1``")
    told = capsys.readouterr().out
    assert told == "--resume goes on; or choose --out, --from 3, --frames 0:50 or ``x=1``\n"


def test_explain_of_a_file_names_the_command_that_reads_it(tmp_path, monkeypatch, capsys):
    (tmp_path / "skirt.yaml").write_text("panels: {}\n")
    status, _, err = call_weft(monkeypatch, capsys, "explain", tmp_path / "skirt.yaml")
    assert status == 2 and f"`weft check {tmp_path / 'skirt.yaml'}`" in " ".join(err.split())
