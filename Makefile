# The one list of commands. `make demo` needs Python 3.11 or newer, pip and make; the rest is installed into .venv.
PYTHON ?= python3

VENV := .venv
BIN := $(VENV)/bin
# pip of the environment where the system could give it one, else that of $(PYTHON) (Debian parts venv and pip).
# $(call install,WHAT)
define install
@if [ -e $(BIN)/pip ]; then pip='$(BIN)/python -m pip'; else pip='$(PYTHON) -m pip --python $(BIN)/python'; fi; \
  $$pip install -qq --disable-pip-version-check --constraint constraints.txt --editable '$(1)'
endef
SETUP := pyproject.toml constraints.txt

.PHONY: help venv demo test lint trace pytest soak bench clean
.NOTPARALLEL:
.DELETE_ON_ERROR:

help:
	@echo 'make demo    a small tournament among the sample bots: table, logs and report'
	@echo 'make test    lint, trace and all tests'
	@echo 'make lint    ruff, mypy --strict, pyright strict'
	@echo 'make trace   every rule: where it is implemented, specified and proved'
	@echo 'make soak    the tests that take minutes'
	@echo 'make bench   speed and memory against the yardsticks'
	@echo 'make venv    install everything that the above need into $(VENV)'

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'lastcard needs Python 3.11 or newer; name one: make PYTHON=python3.12 demo' >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV) >/dev/null 2>&1 || $(PYTHON) -m venv --clear --without-pip $(VENV)

# Two stamps: the demo waits for what lastcard needs to run and for no more.
$(VENV)/run.stamp: $(SETUP) | $(BIN)/python
	@echo 'installing lastcard into $(VENV)'
	$(call install,.)
	@touch $@

$(VENV)/dev.stamp: $(SETUP) | $(BIN)/python
	@echo 'installing lastcard and its checks into $(VENV)'
	$(call install,.[dev])
	@touch $(VENV)/run.stamp $@

venv: $(VENV)/dev.stamp

demo: $(VENV)/run.stamp
	@$(BIN)/lastcard demo

# pytest comes last: its closing line is the last word of a run.
test: venv lint trace pytest

lint: venv
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/python tests/typecheck.py

trace: venv
	@$(BIN)/python tests/trace.py

pytest: venv
	@bash tests/run.sh $(BIN)/python

soak: venv
	@$(BIN)/python -m pytest -m soak --hypothesis-profile=explore

# In an environment of its own, build/bench: the yardsticks are installed for the benchmarks alone.
bench:
	@PYTHON='$(PYTHON)' bash bench/run.sh

clean:
	rm -rf $(VENV) build dist lastcard.egg-info .pytest_cache .ruff_cache .hypothesis
