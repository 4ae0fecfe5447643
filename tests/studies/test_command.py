"""`python -m studies`: a list, a table with a plot, and mistakes of the user."""

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
