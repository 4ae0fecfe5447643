# Everything runs in .venv, which the first command makes; what tests need besides comes with the first test.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
TOOLS := .venv/.tools
OUT ?= reproduced
# With pytest-xdist on two cores or more, a file of tests on one of them.
PARALLEL = $$($(BIN)/python -c 'import os, xdist; print("-n auto --dist loadfile --no-loadscope-reorder" * ((os.cpu_count() or 1) > 1))' 2>/dev/null)
PYTEST = $(BIN)/python -m pytest $(PARALLEL)
# The tests of a contributor.
USUAL = -m "not slow and not campaign and not browser"

.PHONY: demo check test test-engine test-garments test-lab test-robots test-film test-alone test-ci test-all fuzz kill mutants lint typecheck docs pictures package addon validate study bench numbers bench-cuda lowest wheels clean

demo: $(INSTALLED)  ## simulate the built-in scene and draw it
	$(BIN)/weft demo

check: $(TOOLS) docs  ## in a minute: layout, the manual, and the tests of the engine that fail most often
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(PYTEST) -x -m "quick and not slow and not campaign" --ignore tests/plugins

test: $(TOOLS)  ## the tests that a contributor runs (minutes); those of contact, the longest, come last
	$(PYTEST) $(USUAL)

test-engine: $(TOOLS)  ## the tests of the engine alone
	$(PYTEST) $(USUAL) tests/engine

test-garments test-lab test-robots test-film: $(TOOLS)  ## the tests of a plugin
	$(PYTEST) $(USUAL) tests/plugins/$(@:test-%=%)

test-alone: $(TOOLS)  ## a wheel of the engine without plugins, and the tests of the engine with it; ONLY=...: some
	rm -rf build/alone && mkdir -p build/alone
	cp -r src examples README.md LICENSE pyproject.toml build/alone && rm -rf build/alone/src/weft/plugins
	cd build/alone && $(CURDIR)/$(BIN)/python -m hatchling build -t wheel -d dist
	$(BIN)/python -m pip install --quiet --no-deps --target build/alone/site build/alone/dist/*.whl
	PYTHONPATH=$(CURDIR)/build/alone/site $(PYTEST) $(USUAL) $(or $(ONLY),tests/engine)

test-ci: $(TOOLS)  ## what CI runs besides: campaigns (fuzzing, kills, studies, long examples) and browsers
	$(PYTEST) -m "not slow and (campaign or browser)"

test-all: $(TOOLS) docs  ## every test: long verification, campaigns, browsers, packages, compilation for CUDA
	$(PYTEST)

fuzz: $(TOOLS)  ## an hour of mutated scenes, meshes and run folders; crashes go to fuzz-crashes/
	$(BIN)/python -m tests.fuzz.campaign --seconds 3600

kill: $(TOOLS)  ## a thousand kills at random instants, each run compared bitwise afterwards
	$(BIN)/python -m tests.fuzz.kills --kills 1000

mutants: $(TOOLS)  ## an hour: one wrong line at a time in the source, and whether a test finds it; into build/mutants
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'cosmic-ray>=8.4' 'pytest-cov>=6'
	mkdir -p build/mutants
	test -e build/mutants/coverage || COVERAGE_FILE=build/mutants/coverage $(PYTEST) $(USUAL) \
	  --cov=weft --cov-context=test --cov-report= --junitxml=build/mutants/junit.xml
	$(BIN)/python -m tests.mutants.campaign build/mutants
	$(BIN)/python -m tests.mutants.campaign build/mutants --again --longest 120 --limit 200

lint: $(TOOLS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

typecheck: $(TOOLS)
	$(BIN)/mypy

pictures: $(TOOLS)  ## run the example of each guide and draw its picture again
	$(BIN)/python docs/_ext/page_examples.py

docs: $(TOOLS)  ## the manual, into build/docs; a warning is an error, and so is a banned construction
	$(BIN)/python -m pytest -q tests/test_plain_messages.py
	$(BIN)/python -m sphinx -q -W --keep-going -b html -d build/doctrees docs build/docs
	@touch build/docs/.whole

package: $(TOOLS)  ## sdist and wheel into build/dist; the wheel and the certificate are tried in an environment of its own
	rm -rf build/dist build/empty build/away
	$(BIN)/python -m hatchling build -d build/dist
	$(PYTHON) -m venv build/empty
	build/empty/bin/python -m pip install --quiet --disable-pip-version-check build/dist/*.whl
	mkdir build/away && cp tests/installed.py build/away && cd build/away && ../empty/bin/python installed.py
	build/empty/bin/weft validate
	build/empty/bin/weft validate adjoint

lowest: $(TOOLS)  ## the wheel with the lowest version of every dependency, in an environment of its own
	rm -rf build/low && mkdir -p build/low
	$(BIN)/python tests/lowest.py > build/low/versions.txt
	$(BIN)/python -m hatchling build -t wheel -d build/low/dist
	$(PYTHON) -m venv build/low/env
	build/low/env/bin/python -m pip install --quiet --disable-pip-version-check build/low/dist/*.whl -r build/low/versions.txt
	cp tests/installed.py build/low && cd build/low && env/bin/python installed.py

wheels: $(TOOLS)  ## wheels of all dependencies exist for every Python and platform: minutes, and a network
	$(BIN)/python tests/wheels.py

addon:  ## the add-on for Blender, into build/weft_blender.zip
	@mkdir -p build && cd blender/weft_blender && rm -f ../../build/weft_blender.zip && \
	$(PYTHON) -m zipfile -c ../../build/weft_blender.zip *.py blender_manifest.toml LICENSE

validate: $(INSTALLED)  ## the certificate: closed-form and published answers
	$(BIN)/weft validate

study: $(INSTALLED)  ## NAME=...: a question of the papers, into OUT; without a name, which there are; ONLY="tee man": cases
	$(BIN)/python -m studies $(NAME) --out $(OUT) $(if $(ONLY),--only $(ONLY))

bench: $(INSTALLED)  ## speed and memory beside their targets; NAME=...: one benchmark
	$(BIN)/python -m benchmarks $(NAME)

numbers: $(TOOLS)  ## an hour on an idle machine: every table of speed, accuracy and size in README and docs
	$(BIN)/python -m benchmarks.numbers

bench-cuda: $(TOOLS)  ## on a CUDA device: the tests with a case for CUDA, and the benchmarks; NAME=...: one benchmark
	@$(BIN)/python -c 'import sys, warp as wp; from weft import kernel; kernel.initialize(); sys.exit(0 if wp.get_cuda_devices() else "make bench-cuda: Warp finds no CUDA device on this machine. docs/explanations/cuda.md says what is known without one.")'
	$(BIN)/python -m pytest -k cuda
	$(BIN)/python -m benchmarks --device cuda $(NAME)

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "weft needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[direct,plots]'
	@touch $@

$(TOOLS): $(INSTALLED) pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@

clean:  ## remove the environment and caches; runs stay
	rm -rf .venv build dist .pytest_cache .mypy_cache .ruff_cache
