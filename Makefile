# make demo   watch forty turns decided three ways, offline
# make test   every test
# make check  lint, types and the shape of the house
# make frameworks  each integration beside its real framework; ONLY=langgraph for one
# make bench  the bars, measured side by side; PEERS=folder names where the peers are installed
# make bench-inside  the bars inside each framework; ONLY=langgraph for one
#
# The first call makes .venv; nothing else on the machine is touched.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
# the three rooms are reached through links; where those are plain files (an unpacked archive,
# Windows without symlinks) the package is installed as a copy instead
EDITABLE := $(if $(shell test -L src/pointsman/gateway && echo yes),--editable,)

# tests of one file stay together; more than four at once meet each other at the database
AT_ONCE := --numprocesses auto --maxprocesses 4 --dist loadfile

.PHONY: demo test check frameworks bench bench-inside format clean
.DEFAULT_GOAL := help
.PHONY: help

help:
	@sed -n 's/^# make /make /p' Makefile

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Pointsman needs Python 3.11 or newer; set PYTHON=/path/to/it"; exit 1; }
	@# half a venv would count as made: the next call has to start over
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)/.demo: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt $(EDITABLE) '.[cli,local]'
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt pip
	$(PIP) install --quiet --constraint constraints.txt $(EDITABLE) '.[cli,facts,local,otel,parquet,pii,postgres,server]' --group dev
	@touch $@ $(VENV)/.demo

$(VENV)/.nox: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --quiet --constraint constraints.txt --group frameworks
	@touch $@

demo: $(VENV)/.demo
	@$(BIN)/pointsman demo

test: $(VENV)/.dev
	$(BIN)/python -m pytest $(AT_ONCE)

check: $(VENV)/.dev
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/python -m pytest --quiet tests/test_house.py

# one environment each, kept in .nox
FRAMEWORKS := langgraph openai_agents pydantic_ai mcp crewai google_adk llama_index agent_framework
ONLY ?= $(FRAMEWORKS)

frameworks: $(VENV)/.nox
	$(BIN)/nox --sessions $(foreach one,$(ONLY),"framework($(one))")

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/overhead.py
	$(BIN)/python benchmarks/turn.py
	$(BIN)/python benchmarks/deliberation.py
	$(BIN)/python benchmarks/promises.py
	$(BIN)/python benchmarks/journal_fire.py
	$(BIN)/python benchmarks/soak.py
	$(BIN)/python benchmarks/facts.py
	$(BIN)/python benchmarks/reconciliation.py
	$(BIN)/python benchmarks/local_accuracy.py
	$(BIN)/python benchmarks/race.py --quick $(if $(PEERS),--peers $(PEERS))

bench-inside: $(VENV)/.nox
	$(BIN)/nox --sessions $(foreach one,$(ONLY),"inside($(one))")

format: $(VENV)/.dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

clean:
	rm -rf $(VENV) .nox dist build
