# The two commands of the README are `make demo` and `make test`; each sets itself up on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT := out

.PHONY: demo test soak docs bench clean

demo: $(VENV)/installed
	@mkdir -p $(OUT)
	$(BIN)/python -m sudare anonymize src/sudare/datasets/adult.parquet \
		--policy src/sudare/datasets/adult_policy.yaml --out $(OUT)/adult-release.csv
	@echo; echo "The first records of the release, $(OUT)/adult-release.csv:"; head -n 4 $(OUT)/adult-release.csv; echo
	$(BIN)/python -m sudare audit $(OUT)/adult-release.csv --policy src/sudare/datasets/adult_policy.yaml
	@echo
	$(BIN)/python -m sudare report $(OUT)/adult-release.csv --data src/sudare/datasets/adult.parquet \
		--policy src/sudare/datasets/adult_policy.yaml --out $(OUT)/adult-report.html
	@echo; echo "The report is $(CURDIR)/$(OUT)/adult-report.html: open it in a browser."

test: $(VENV)/installed-for-tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mkdocs build --strict --site-dir $(OUT)/site
	$(BIN)/python -m pytest -n 2 --dist loadfile

soak: $(VENV)/installed-for-tests
	$(BIN)/python tests/soak $(TRIALS)

docs: $(VENV)/installed-for-tests
	$(BIN)/mkdocs build --strict --site-dir $(OUT)/site

bench: $(VENV)/installed-for-tests
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python benchmarks/top_down.py
	$(BIN)/python benchmarks/full_domain.py
	$(BIN)/python benchmarks/tds.py
	$(BIN)/python benchmarks/clustering.py
	$(BIN)/python benchmarks/drawing.py
	$(BIN)/python benchmarks/risk.py
	$(BIN)/python benchmarks/uniqueness.py

clean:
	rm -rf $(VENV) $(OUT) site
	find src tests benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV) || { \
		rm -rf $(VENV); \
		echo "This Python cannot make virtual environments."; \
		if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
			apt-get update && apt-get install --yes python3-venv && $(PYTHON) -m venv $(VENV); \
		else \
			echo "Install its venv module (on Debian: apt-get install python3-venv)."; exit 1; \
		fi; }
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

$(VENV)/installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/installed-for-tests: $(VENV)/installed
	@tests/engines/install
	$(BIN)/python -m pip install --quiet --group test --group check --group docs
	@touch $@
