# Everything runs in .venv, which these targets create and fill on first use.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
VALIDATION_TESTS := $(wildcard validation/test_*.py validation/*/test_*.py)

export MPLBACKEND := Agg

.NOTPARALLEL:
.PHONY: demo test validate bench docs lint format clean

demo: $(VENV)/.installed-plot
	@mkdir -p build
	$(BIN)/python examples/02_crank_rocker.py

test: lint
	$(BIN)/python -m pytest tests -n 2

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The report is written even when a comparison fails, so that the table shows which.
validate: $(VENV)/.installed-test
	@rm -f build/validation.jsonl
ifeq ($(VALIDATION_TESTS),)
	@echo "validation: there are no comparisons yet"
	$(BIN)/python validation/report.py
else
	status=0; $(BIN)/python -m pytest validation -n 2 --dist loadfile --durations=20 || status=$$?; \
	$(BIN)/python validation/report.py && exit $$status
endif

bench: $(VENV)/.installed-bench
	$(BIN)/python benchmarks/run.py

# A warning, a link that leads nowhere or a misspelt word fails the build. What it writes below docs/reference and
# docs/gallery is left to git to ignore.
docs: $(VENV)/.installed-docs
	$(BIN)/codespell README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs examples src
	$(BIN)/sphinx-build -W --keep-going -q -b html docs build/site
	$(BIN)/python docs/check_site.py build/site

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	@touch $@

# .installed-NAME: jointplay (editable) with the extra NAME of pyproject.toml.
$(VENV)/.installed-%: pyproject.toml src/jointplay/_version.py | $(VENV)/.created
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[$*]"
	@touch $@
