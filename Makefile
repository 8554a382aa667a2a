# Everything a user or a developer runs. `make help` lists it.
#
# Paths are relative, so spaces in the name of the clone do no harm. The question and the folder travel as environment
# variables and are never part of a shell command: quotes, $ and backticks in them are text.

.DEFAULT_GOAL := help
SHELL := /bin/sh
PYTHON ?= python3
PY := .venv/bin/python
# Who names an interpreter on the command line wants the environment made with it; otherwise the one that is there is used.
THIS_PYTHON := $(if $(filter command,$(origin PYTHON)),--this-python)
FORMAT ?=
# Only from the command line: a variable of this name in the environment may mean something else.
ifeq ($(origin MODEL),command line)
override MODEL := $(value MODEL)
export RUBRICA_LOCAL_MODEL := $(value MODEL)
endif
ARGS ?=
JOBS ?= 2
override Q := $(value Q)
override DOCS := $(value DOCS)
override DATA := $(value DATA)
export Q DOCS DATA

.PHONY: help setup report up extras setup-train test test-extras check eval-demo data-demo train-demo loop-demo fuzz-api conformance audit lock clean

help: ## List what there is
	@awk -F ':.*## ' '/^[a-z%-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile
	@echo '  Settings (RUBRICA_*) are described in docs/settings.md.'

setup: ## Make the environment in .venv; costs nothing when it is there
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) was not found; install Python 3.11 or newer" >&2; exit 2; }
	@$(PYTHON) infra/environment.py $(THIS_PYTHON)

report: setup ## Research a question: make report Q="..." [DOCS=folder] [MODEL=name, see: rubrica models]
	@[ -n "$$Q" ] || { echo 'make: ask something: make report Q="How did presidents justify tariffs before 1900?"' >&2; exit 2; }
	@$(PY) -m infra.cli ask $${DOCS:+--docs "$$DOCS"} $(ARGS) -- "$$Q"

up: setup ## Run API, worker and page here, until Ctrl-C [MODEL=name]
	@exec $(PY) -m infra.cli up $(ARGS)

extras: setup ## Install what only some tests need and most machines lack: a browser, torch, SearXNG, small weights
	@$(PY) -m infra.extras

test: setup ## Run the tests on real servers (ARGS="-k name" for some, JOBS=0 for one process)
	@$(PY) -m pytest -n $(JOBS) $(ARGS)

test-extras: setup ## Run only the tests that `make test` skips without `make extras`
	@$(PY) -m pytest -n $(JOBS) -m extra $(ARGS)

check: setup ## Format, lint, check types and import contracts
	@$(PY) -m ruff format --quiet $(FORMAT) .
	@$(PY) -m ruff check .
	@$(PY) -m mypy
	@.venv/bin/lint-imports

bench-%: setup ## Run a benchmark: make bench-startup, bench-overhead, ...
	@$(PY) -m bench.$* $(ARGS)

eval-demo: setup ## Try a benchmark with a stand-in for a model (DATA=folder): shows how it works, measures nothing
	@[ -n "$$DATA" ] || { echo 'make: name the benchmark: make eval-demo DATA=path/to/deepresearch-bench' >&2; exit 2; }
	@$(PY) -m tests.support.eval_demo "$$DATA" $(ARGS)

data-demo: setup ## Make a small training set with a stand-in for a model (KIND=graph-queries): its report is in reports/
	@$(PY) -m tests.support.data_demo $(KIND)

setup-train: setup ## Install what training needs: torch, transformers, TRL, PEFT, accelerate, datasets (docs/training.md)
	@$(PY) -m infra.setup_train

train-demo: setup-train ## Train a tiny random model on a small set (RECIPE=sft_cold_start), and open its report
	@$(PY) -m tests.support.train_demo $(RECIPE)

loop-demo: setup-train ## From readers' votes to a promoted model, on a stack of its own, with planted readers; opens a page
	@$(PY) -m bench.loop.demo

fuzz-api: setup ## Try the whole API with thousands of requests, valid and not
	@$(PY) -m bench.fuzz_api $(ARGS)

conformance: setup ## Hold what we speak and write against the published suites of others (ARGS="webhooks" for some)
	@$(PY) -m bench.conformance $(ARGS)

audit: ## Look for known vulnerabilities in what requirements.lock names (asks PyPI, at most ten minutes)
	@$(PYTHON) -m infra.audit

lock: ## Resolve pyproject.toml anew into requirements.lock and NOTICE
	@$(PYTHON) infra/lock.py

clean: ## Remove the environment and caches (reports and .rubrica stay)
	rm -rf .venv .venv.put-aside .venv.lock .mypy_cache .ruff_cache .pytest_cache .import_linter_cache rubrica.egg-info
