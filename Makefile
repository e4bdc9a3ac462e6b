# The two commands of the README are `make demo` and `make test`; each sets itself up on a fresh machine.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT := out

# Tests start Python often, and each start would translate every module again if nothing might be kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo check test all-checks static-checks kernels package coverage lock soak docs bench papers clean

# What `make check` leaves out: engines (PostgreSQL, Spark) and the browser, pages and their examples, papers, random tables,
# every method with every model, long trials, and single files that take long. `make test` leaves out nothing.
SLOW := tests/engines tests/soak tests/papers tests/docs tests/properties tests/conformance \
	tests/audits/test_class_tables.py tests/audits/test_hidden_values.py tests/audits/test_oracle.py \
	tests/audits/test_randomized.py tests/audits/test_tampering.py \
	tests/cli/test_bounds.py tests/cli/test_compare.py tests/cli/test_item_set_memory.py \
	tests/cli/test_killed.py tests/cli/test_like_windows.py tests/cli/test_plans.py tests/comparisons/test_comparison.py \
	tests/comparisons/test_measurement.py tests/comparisons/test_same_figures.py \
	tests/estimates/test_figure_coverage.py tests/estimates/test_run.py tests/estimates/test_shrinkage.py \
	tests/kernels/test_item_combinations.py tests/kernels/test_regroups.py tests/kernels/test_shard_summaries.py \
	tests/methods/test_large_lattices.py tests/policy/test_effects.py tests/reports/test_in_browser.py

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

# The quick half, in less than four minutes on two cores.
check: static-checks
	$(BIN)/python -m pytest -n 2 --dist loadfile $(addprefix --ignore=,$(SLOW))

# Everything. The package mostly waits for downloads, so it is tried beside the tests.
test: $(VENV)/installed-for-tests
	$(MAKE) --jobs=2 package all-checks

# The slowest twenty tests are listed at the end.
all-checks: $(VENV)/installed-for-tests
	$(MAKE) --jobs=2 static-checks kernels docs
	$(BIN)/python -m pytest -n 2 --dist loadfile --durations=20

# What is checked without running anything.
static-checks: $(VENV)/installed-for-checks
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/mypy --platform win32 --no-warn-unreachable --cache-dir .mypy_cache/windows src
	$(BIN)/mypy --platform darwin --no-warn-unreachable --cache-dir .mypy_cache/macos src
	@if command -v uv >/dev/null; then uv lock --check; else echo "uv is not installed: uv.lock is not compared."; fi

# Compiles the kernels of all methods once; otherwise each of the two processes that test would do so by itself.
kernels: $(VENV)/installed-for-checks
	$(BIN)/python -m pytest -q -k every_record_has_a_class tests/conformance/test_methods.py

# Builds the wheel and the source package, installs the wheel into an empty environment, and makes a small release with it.
package: $(VENV)/installed-for-checks
	rm -rf $(OUT)/dist $(OUT)/try-wheel
	$(BIN)/python -m build --outdir $(OUT)/dist
	$(BIN)/python tests/packaging/try_wheel.py $(OUT)/dist $(OUT)/try-wheel

coverage: $(VENV)/installed-for-tests
	$(BIN)/python -m pytest -n 2 --dist loadfile --cov --cov-report=term --cov-report=html

lock:
	uv lock

soak: $(VENV)/installed-for-tests
	$(BIN)/python tests/soak $(TRIALS)
	@[ -n "$(TRIALS)" ] || SUDARE_EXAMPLES=all $(BIN)/python -m pytest -n 2 --dist loadfile tests/properties

docs: $(VENV)/installed-for-tests
	$(BIN)/zensical build --strict

bench: $(VENV)/installed-for-tests
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python benchmarks/top_down.py
	$(BIN)/python benchmarks/full_domain.py
	$(BIN)/python benchmarks/tds.py
	$(BIN)/python benchmarks/clustering.py
	$(BIN)/python benchmarks/microaggregation.py
	$(BIN)/python benchmarks/drawing.py
	$(BIN)/python benchmarks/risk.py
	$(BIN)/python benchmarks/uniqueness.py
	$(BIN)/python benchmarks/sources.py
	$(BIN)/python benchmarks/drafts.py --explain

# All experiments of the papers; DATA is a folder with the public tables (see papers/all.py).
papers: $(VENV)/installed-for-tests
	$(BIN)/python -m pip install --quiet --group bench
	$(BIN)/python papers/all.py --data $(DATA)

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

$(VENV)/installed-for-checks: $(VENV)/installed
	$(BIN)/python -m pip install --quiet --group test --group check
	@touch $@

$(VENV)/installed-for-tests: $(VENV)/installed-for-checks
	@tests/engines/install
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@
