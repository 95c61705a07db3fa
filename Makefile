# Two commands are all a newcomer needs: make run, make test. Both set the machine up first.
VENV := .venv
BIN := $(VENV)/bin
NATIVE := $(wildcard native/core/*.[ch] native/cpython/*.py)

.PHONY: run test check bench boards setup clean

run: setup
	@$(BIN)/cabinet run

test: setup check
	$(BIN)/pytest -n 2 --dist worksteal --durations=5
	$(BIN)/cabinet hil --board unix -n 2 --dist worksteal --ignore=tests/hil/test_cli.py

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright --project host_tools/pyright/boards.json
	$(BIN)/basedpyright --project host_tools/pyright/host.json

bench: setup
	$(BIN)/cabinet bench
	$(BIN)/cabinet bench --board mps2

# MicroPython on the boards: minutes once, nothing while nothing has changed. MICROPYTHON_DIR names another source tree.
boards: setup
	@$(BIN)/python -m host_tools.boards

setup: $(VENV)/.ready typings/.ready

$(VENV)/.ready: pyproject.toml host_tools/setup.sh $(NATIVE)
	@sh host_tools/setup.sh $(VENV)
	@touch $@

# MicroPython's own stubs judge firmware/ and hal/; they replace the standard library's, so they stay outside the environment.
typings/.ready: pyproject.toml $(VENV)/.ready
	@echo "setup: fetching the MicroPython stubs into typings/"
	@rm -rf typings && $(BIN)/pip install -q --no-input --target typings "micropython-rp2-stubs>=1.24"
	@touch $@

clean:
	rm -rf $(VENV) typings build dist native/cpython/*.so
