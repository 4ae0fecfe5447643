"""`python -m benchmarks`: JSON alone, a table for documents, and mistakes of the user."""

import json

import pytest

from benchmarks.__main__ import main


def test_json_and_markdown(capsys, monkeypatch):
    assert main(["import", "--json"]) == 0
    factor, took = json.loads(capsys.readouterr().out)
    assert factor["name"] == "machine/factor" and factor["value"] > 0
    assert took["normalized"] == pytest.approx(took["value"] / factor["value"])
    monkeypatch.setattr("benchmarks.startup.import_time", lambda: iter(()))
    assert main(["import", "--markdown"]) == 0
    out = capsys.readouterr().out
    rows = [line for line in out.splitlines() if line.startswith("|")]
    assert out.startswith("machine: ") and len(rows) == 3
    assert all(r.count("|") == 7 for r in rows)


def test_mistakes(capsys):
    for arguments in (["asembly"], ["--only", "demo-10"]):
        assert main(arguments) == 2 and capsys.readouterr().err.startswith("error: ")
    with pytest.raises(SystemExit) as ended:
        main(["contact-drape", "--repeats", "0"])
    assert ended.value.code == 2
