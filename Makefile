# Everything runs in .venv, which the first command makes; later ones need no network.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.PHONY: demo test test-all fuzz kill lint typecheck validate bench clean

demo: $(INSTALLED)  ## simulate the built-in scene and draw it
	$(BIN)/weft demo

test: $(INSTALLED)  ## the tests that CI runs (minutes)
	$(BIN)/python -m pytest -m "not slow"

test-all: $(INSTALLED)  ## every test, the long verification too
	$(BIN)/python -m pytest

fuzz: $(INSTALLED)  ## an hour of mutated scenes, meshes and run folders; crashes go to fuzz-crashes/
	$(BIN)/python -m tests.fuzz.campaign --seconds 3600

kill: $(INSTALLED)  ## a thousand kills at random instants, each run compared bitwise afterwards
	$(BIN)/python -m tests.fuzz.kills --kills 1000

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: $(INSTALLED)
	$(BIN)/mypy

validate: $(INSTALLED)  ## the certificate: closed-form and published answers
	$(BIN)/weft validate

bench: $(INSTALLED)  ## speed and memory beside their targets
	$(BIN)/weft bench

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "weft needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:  ## remove the environment and caches; runs stay
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache
