# Five verbs; each sets up what it needs. Only Python 3.11+ with pip, and make, are expected.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.run
DEV    := $(VENV)/.dev
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet
ARGS   ?=

.PHONY: run test check bench real format docs lock clean
.DEFAULT_GOAL := run

run: $(RUN)  ## start the house and print its address
	@$(BIN)/chie serve $(ARGS)

test: $(DEV)  ## all tests that need nothing from outside
	@$(BIN)/python -m pytest $(ARGS)

check: $(DEV)  ## style, types, import directions, generated docs
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m docs.generate --check

bench: $(DEV)  ## every figure in the README
	@$(BIN)/python -m bench $(ARGS)

real: $(DEV) tests/real/node_modules/.installed  ## real MCP clients and the conformance suite
	@$(BIN)/python -m pytest -n 0 -m real tests/real $(ARGS)

format: $(DEV)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

docs: $(DEV)  ## rewrite the tables that are made from code
	@$(BIN)/python -m docs.generate

lock:
	@$(PYTHON) -m venv $(VENV)/lock && $(VENV)/lock/bin/python -m pip install --quiet uv
	@$(VENV)/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header $(UPGRADE) \
	    pyproject.toml requirements/build.in -o requirements/run.txt
	@$(VENV)/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header $(UPGRADE) \
	    -c requirements/run.txt --all-extras pyproject.toml requirements/build.in requirements/dev.in -o requirements/dev.txt

clean:
	rm -rf $(VENV) tests/real/node_modules .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Chie needs Python 3.11 or newer; name one with: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up $(VENV) (once)…"
	@$(PYTHON) -m venv $(VENV)

# A stamp is newer than its lock file once that lock is installed. The dev lock holds the run lock's versions.
$(RUN): requirements/run.txt pyproject.toml | $(BIN)/python
	@$(PIP) --require-hashes -r requirements/run.txt
	@$(PIP) --no-deps --no-build-isolation -e .
	@touch $@

$(DEV): requirements/dev.txt packages/chie-agent-adk/pyproject.toml $(RUN)
	@$(PIP) --require-hashes -r requirements/dev.txt
	@$(PIP) --no-deps --no-build-isolation -e packages/chie-agent-adk
	@touch $@

tests/real/node_modules/.installed: tests/real/package-lock.json
	@cd tests/real && npm install --no-save --loglevel=error
	@touch $@
