# Everything a contributor or a first-time visitor runs. Needs make and Python 3.11+ with venv;
# uses uv where it is installed. Each target makes .venv itself, and installs again only after
# pyproject.toml has changed.
#
#   make demo ARGS="--processes 2 --redis redis://localhost"
#   make test ARGS="tests/test_bucket.py -k narrow"
#   PYTHON=python3.12 make test       a certain interpreter (else the newest that is found)

SHELL := /bin/sh
VENV := .venv
BIN := $(VENV)/bin
BENCH := .venv-bench
ARGS ?=

.PHONY: help demo test lint types docs bench registry check format clean
.DEFAULT_GOAL := help

help:  ## List the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1|\2/p' Makefile | awk -F'|' '{printf "  %-12s %s\n", $$1, $$2}'

demo: $(VENV)/.dev  ## Import four sellers from the bundled simulator and count what it cost
	$(BIN)/wbtrio demo $(ARGS)

test: $(VENV)/.dev  ## Run the tests, against a real Redis server
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/.dev  ## Check style and formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.dev  ## Check types, strictly
	$(BIN)/mypy

docs: $(VENV)/.docs  ## Build the documentation into site/, failing on any warning
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --site-dir site

bench: $(BENCH)/.bench  ## Measure against the bare socket and against other limiters
	$(BENCH)/bin/python -m benchmarks $(ARGS)

registry: $(VENV)/.dev  ## Write anew what is made from registry/*.toml
	$(BIN)/python -m wbtrio._registry

check: lint types test docs  ## All that CI checks, but for the demo

format: $(VENV)/.dev  ## Format the code and apply the safe fixes
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

clean:  ## Remove everything that the targets made
	rm -rf $(VENV) $(BENCH) site build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	tools/install dev
	touch $@

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	tools/install docs
	touch $@

# Of its own, since some of the limiters to compare with need an older redis-py than we do.
$(BENCH)/.bench: pyproject.toml | $(BENCH)/bin/python
	VENV=$(BENCH) tools/install bench
	touch $@

$(BIN)/python $(BENCH)/bin/python:
	VENV=$(@:/bin/python=) tools/make-venv
