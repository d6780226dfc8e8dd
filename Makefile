# Each target installs what it needs. Only make and Python 3.11+ with pip are required.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.run
DEV    := $(VENV)/.dev
PIP    := $(BIN)/python -m pip install --quiet
# A lock file names all packages. Resolving them again, pip stumbles over versions that were published since.
LOCKED := $(PIP) --no-deps --require-hashes
ARGS   ?=
PREFIX ?= $(HOME)/.local
PROGRAMS := chie knowledge-gateway mcp-bedrock-kb n8n-mcp-server

# Our own two packages are installed from their folders, so they are not locked.
COMPILE := $(VENV)/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-strip-extras --no-header $(UPGRADE) \
    --no-emit-package chie --no-emit-package chie-agent-adk

# The page is built with the installed Node if it is new enough for Vite, else with Node from PyPI.
NODE_FITS := $(shell node -e 'const [a, b] = process.versions.node.split(".").map(Number); \
    process.exit(a > 22 || (a == 22 && b >= 12) || (a == 20 && b >= 19) ? 0 : 1)' 2>/dev/null && npm --version >/dev/null 2>&1 && echo yes)
NODE      := $(if $(NODE_FITS),,$(VENV)/.node)
NPM       := $(if $(NODE_FITS),,PATH="$(CURDIR)/$(BIN):$$PATH") npm
PAGE      := src/chie/static/index.html
PAGE_FROM := $(shell find web src/chie/messages/ja src/chie/n8n/graph_*.js -type f -not -path 'web/node_modules/*')
MODULES   := web/node_modules/.installed

# Tests start hundreds of processes: without compiled files each of them would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=
# Building asks the package indexes for packages, and for nothing about themselves.
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run install links uninstall page test check bench real dist fuzz mutants soak browser strace format docs lock clean
.DEFAULT_GOAL := run

run: $(RUN)  ## start Chie and print its URL
	@$(MAKE) --no-print-directory page || echo "The web page could not be built, so a plain start page is served. Everything else works."
	@$(BIN)/chie serve $(ARGS)

install: $(RUN)  ## put chie and the MCP servers on the PATH, as links into PREFIX/bin
	@$(MAKE) --no-print-directory page || echo "The web page could not be built, so a plain start page is served. Everything else works."
	@$(MAKE) --no-print-directory links

links:
	@mkdir -p "$(PREFIX)/bin"
	@for program in $(PROGRAMS); do ln -sf "$(CURDIR)/$(BIN)/$$program" "$(PREFIX)/bin/$$program"; done
	@echo "Installed in $(PREFIX)/bin: $(PROGRAMS)"
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo "Add $(PREFIX)/bin to your PATH.";; esac

uninstall:  ## remove the links that make install made; notes and settings stay
	@for program in $(PROGRAMS); do \
	    [ "$$(readlink "$(PREFIX)/bin/$$program")" != "$(CURDIR)/$(BIN)/$$program" ] || rm "$(PREFIX)/bin/$$program"; done

page: $(PAGE)  ## build the web page, again when web/ changes

test: $(DEV) $(PAGE) browser strace  ## run all tests that need no network
	@$(if $(findstring tests/,$(ARGS))$(findstring -k,$(ARGS)),,cd web && $(NPM) --silent test)
	@$(BIN)/python -m pytest $(ARGS)

check: $(DEV) $(MODULES)  ## check style, types, import contracts and generated docs
	@$(BIN)/python -m pip check --quiet
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/codespell
	@$(BIN)/deptry --no-ansi .
	@cd packages/chie-agent-adk && ../../$(BIN)/deptry --no-ansi .
	@cd web && $(NPM) --silent run check
	@$(BIN)/python -m docs.generate --check

bench: $(DEV) $(PAGE)  ## measure and store every figure; ARGS=--peers also measures other projects
	@$(BIN)/python -m bench $(ARGS)

real: $(DEV) strace tests/real/node_modules/.installed  ## test with real MCP clients, engines, the conformance suite and a real n8n
	@$(BIN)/python -m tests.real.n8n_server  # the first time takes minutes, and 2.5 GB in the user's cache
	@$(BIN)/python -m tests.real.engines  # llama.cpp and LiteLLM, about 1 GB in the user's cache
	@$(if $(ARGS),,$(BIN)/python -m pytest -n 0 -rs tests/privacy)
	@$(BIN)/python -m pytest -n 0 -m real tests/real $(ARGS)

dist: $(DEV) $(PAGE)  ## build wheels, sdist and the bundle for Claude Desktop into dist/
	@$(BIN)/python -m release $(ARGS)

fuzz: $(VENV)/.fuzz  ## fuzz the parsers: ARGS="markdown_file -max_total_time=600"
	@$(BIN)/python -m tests.fuzz $(ARGS)

mutants: $(VENV)/.mutants  ## mutation testing: ARGS="n8n", ARGS="--again n8n"
	@$(BIN)/python -m tests.mutation $(ARGS)

soak: $(DEV)  ## half an hour of load with injected failures; needs root and Debian's faketime
	@$(BIN)/python -m tests.soak $(ARGS)

format: $(DEV) $(MODULES)
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@cd web && $(NPM) --silent run format

docs: $(DEV)  ## regenerate the tables in the docs
	@$(BIN)/python -m docs.generate

lock:  ## rewrite the lock files from pyproject.toml; UPGRADE=--upgrade takes the latest versions
	@$(PYTHON) -m venv $(VENV)/lock && $(VENV)/lock/bin/python -m pip install --quiet uv
	@$(COMPILE) --extra openai --extra anthropic --extra bedrock --extra postgres --extra documents \
	    pyproject.toml requirements/build.in -o requirements/run.txt
	@$(COMPILE) -c requirements/run.txt --all-extras pyproject.toml requirements/build.in requirements/dev.in -o requirements/dev.txt
	@$(COMPILE) -c requirements/dev.txt --all-extras pyproject.toml requirements/build.in -o requirements/image.txt
	@$(COMPILE) requirements/node.in -o requirements/node.txt
	@$(COMPILE) requirements/fuzz.in -o requirements/fuzz.txt
	@$(COMPILE) -c requirements/dev.txt requirements/mutants.in -o requirements/mutants.txt

clean:
	rm -rf $(VENV) tests/real/node_modules web/node_modules src/chie/static .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "Chie needs Python 3.11 or newer. Choose one with: make PYTHON=/path/to/python3.11"; exit 1; }
	@echo "Setting up $(VENV) (once)…"
	@$(PYTHON) -m venv $(VENV)

# A stamp is newer than its lock file once that lock is installed. The dev lock holds the run lock's versions.
$(RUN): requirements/run.txt pyproject.toml packages/chie-agent-adk/pyproject.toml | $(BIN)/python
	@$(LOCKED) -r requirements/run.txt
	@$(PIP) --no-deps --no-build-isolation -e . -e packages/chie-agent-adk
	@touch $@

$(DEV): requirements/dev.txt $(RUN)
	@$(LOCKED) -r requirements/dev.txt
	@touch $@

tests/real/node_modules/.installed: tests/real/package-lock.json
	@cd tests/real && npm install --no-save --loglevel=error
	@touch $@

$(VENV)/.node: requirements/node.txt | $(BIN)/python
	@echo "No installed Node can build the page: installing Node from PyPI (once)…"
	@$(LOCKED) -r requirements/node.txt
	@touch $@

$(VENV)/.fuzz: requirements/fuzz.txt $(DEV)
	@$(LOCKED) -r requirements/fuzz.txt
	@touch $@

$(VENV)/.mutants: requirements/mutants.txt $(DEV)
	@$(LOCKED) -r requirements/mutants.txt
	@touch $@

$(MODULES): web/package-lock.json $(NODE)
	@echo "Installing the page's build tools (once)…"
	@cd web && $(NPM) install --no-save --loglevel=error
	@touch $@

$(PAGE): $(PAGE_FROM) $(MODULES)
	@cd web && $(NPM) --silent run build
	@touch $@

# The end-to-end tests need Chromium and Japanese fonts, which are installed if this is Debian and the user is root.
browser:
	@command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || command -v google-chrome >/dev/null || [ -n "$$CHIE_CHROMIUM" ] || { \
	    [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    echo "The end-to-end tests need Chromium: installing Debian's with apt-get (once)…" && \
	    apt-get update -qq && { apt-get install -y -qq --no-install-recommends chromium-headless-shell fonts-noto-cjk >/dev/null 2>&1 || \
	    apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null; }; } || \
	    echo "Chromium is missing and could not be installed: the end-to-end tests will be skipped."

# It watches that nothing leaves the machine (tests/privacy). Only Linux has it.
strace:
	@command -v strace >/dev/null || [ "$$(uname)" != Linux ] || { \
	    [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	    echo "The tests of privacy need strace: installing Debian's with apt-get (once)…" && \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends strace >/dev/null; } || \
	    echo "strace is missing and could not be installed: tests that watch system calls will be skipped."
