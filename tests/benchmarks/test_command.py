"""`python -m benchmarks`: JSON alone, a table for documents, and mistakes of the user."""

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.measure import info


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


def test_a_benchmark_that_fails_is_named_and_the_others_run(capsys, monkeypatch):
    def fails():
        yield info("first-step/good", 1.0, "x")
        raise ValueError("no step\nfor this")

    monkeypatch.setattr("benchmarks.startup.first_step", fails)
    monkeypatch.setattr("benchmarks.startup.import_time", lambda: iter([info("i/w", 2.0, "x")]))
    monkeypatch.setattr("benchmarks.startup.demo", lambda: iter([info("demo/all", 3.0, "x")]))
    assert main(["first-step", "demo", "import", "--json"]) == 1
    shown = capsys.readouterr()
    found = {m["name"]: m for m in json.loads(shown.out)}
    assert {"first-step/good", "first-step", "demo/all", "i/w"} < set(found)
    assert found["first-step"]["ok"] is False and found["first-step"]["value"] is None
    assert shown.err == "error: benchmark first-step failed: ValueError: no step for this\n"
    assert main(["first-step"]) == 1 and "  failed" in capsys.readouterr().out
