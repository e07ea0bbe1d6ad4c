# On a fresh machine with python3.11, make and git: `make demo` or `make test`. `make help` lists the targets.
# Variables: PYTHON (the interpreter), UV= (empty: install with pip), PART=postgres (extras), PART=noise (soak).

PYTHON ?= $(shell command -v python3.11 || command -v python3)
UV     ?= uv
PART   ?=

BIN    := .venv/bin
SOAKED := tests$(PART:%=/%)
LOCK   := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
          --no-header --no-annotate --no-emit-index-url $(LOCKFLAGS) pyproject.toml
CHECKS := $(patsubst %,tests/test_%.py,imports typed docs reference repository sql_page gallery tutorials)

# $(call install,ENVIRONMENT,LOCK): the locked packages by hash, then discreet itself in place.
# uv lives in .venv; where it cannot be installed, or with UV=, pip does the same more slowly.
define install
	$(PYTHON) -m venv $(1)
	@if [ -n "$(UV)" ]; then $(BIN)/python -m pip install --quiet uv || echo "uv is not available: using pip"; fi
	@if [ -n "$(UV)" ] && [ -x $(BIN)/uv ]; then pip="$(BIN)/uv pip install --python $(1)/bin/python"; \
	else pip="$(1)/bin/python -m pip install"; fi; set -ex; \
	$$pip --quiet --require-hashes -r $(2); \
	$$pip --quiet --no-deps --no-build-isolation -e .
	@touch $(1)/ready
endef

help:  ## this list
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 16

demo: .venv/ready  ## set up, and run the demonstration
	$(BIN)/discreet demo

test: lint  ## set up, and run every check and every test
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

extras: .venv/ready  ## the tests of an optional part, with what it needs: PART=postgres
	$(BIN)/python -m tests.extras $(PART)

check: lint  ## formatting, lint, types, import arrows, documentation
	$(BIN)/python -m pytest -q $(CHECKS)

lint: .venv/ready  ## formatting, lint and types only
	$(BIN)/ruff format --check --quiet .
	$(BIN)/ruff check --quiet .
	$(BIN)/mypy

soak: .venv/ready  ## the tests with their full counts, into docs/soak.md; PART=noise for one folder
	DISCREET_SCALE=20 $(BIN)/python -m pytest -q -n 2 --dist worksteal --timeout 3600 \
	    --hypothesis-seed=$$(date +%s) $(SOAKED)

bench: .venv/ready  ## the benchmarks; after `make peers` also against other libraries
	@python=.venv-peers/bin/python; if [ ! -e .venv-peers/ready ]; then python=$(BIN)/python; \
	echo "Other libraries are left out: \`make peers\` installs them into .venv-peers."; fi; \
	for script in bench/*.py; do echo "== $$script"; $$python $$script || exit 1; done

peers: .venv-peers/ready  ## the environment with the libraries that the benchmarks compare with

lock: .venv/ready  ## renew requirements/*.txt; LOCKFLAGS=--upgrade for the newest versions
	$(LOCK) -o requirements/core.txt
	$(LOCK) --group dev -c requirements/core.txt -o requirements/dev.txt
	$(LOCK) --group peers -o requirements/peers.txt

wheel: .venv/ready  ## build what `pip install` takes, dist/discreet-*.whl
	rm -rf build dist
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

reference: .venv/ready  ## renew the pages and notebooks that are made: reference.md, the tables of sql.md, gallery.md, tutorials
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/sql.py
	$(BIN)/python docs/gallery.py
	$(BIN)/python docs/tutorials/notebooks.py

format: .venv/ready  ## format the code, and mend what lint can mend
	$(BIN)/ruff check --quiet --fix .
	$(BIN)/ruff format --quiet .

clean:  ## remove the environments and all caches
	rm -rf .venv .venv-peers build dist src/*.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/ready: requirements/dev.txt pyproject.toml
	$(call install,.venv,requirements/dev.txt)

.venv-peers/ready: requirements/peers.txt pyproject.toml .venv/ready
	$(call install,.venv-peers,requirements/peers.txt)

.PHONY: help demo test extras check lint soak bench peers lock wheel reference format clean
