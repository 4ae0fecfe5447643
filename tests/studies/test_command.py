"""`python -m studies`: a list, a table with a plot, and mistakes of the user."""

import sys

from studies.__main__ import main


def test_lists_and_runs(tmp_path, capsys):
    assert main([]) == 0
    out = capsys.readouterr().out
    assert "pritchard-macri" in out and "kim2020-fig5" in out and "Whose derivative" in out
    assert main(["pritchard-macri", "--out", str(tmp_path)]) == 0
    assert "eq. 54 is the derivative" in capsys.readouterr().out
    assert (tmp_path / "pritchard-macri.png").exists()


def test_unknown_names_and_numbers(capsys):
    for arguments in (
        ["pritchard-macry"],
        ["pritchard-macri", "--n", "9"],
        ["effort", "--n", "1"],
        ["effort", "--quick"],
        ["effort", "--only", "tee"],
    ):
        assert main(arguments) == 2
        assert capsys.readouterr().err.startswith("error: ")


def test_without_matplotlib(tmp_path, capsys, monkeypatch):
    """The table, what follows from it, status 0, and what a plot needs."""
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["pritchard-macri", "--out", str(tmp_path)]) == 0
    assert "weft[plots]" in capsys.readouterr().out
    assert [p.name for p in tmp_path.iterdir()] == ["pritchard-macri.csv"]
