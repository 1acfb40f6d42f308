# Needs Python >= 3.11 and a C++20 compiler; everything else is installed into .venv.
# To use another interpreter for it: make test PYTHON=python3.12

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGE := $(VENV)/.package
INSTALLED_TEST := $(VENV)/.installed-test
INSTALLED := $(VENV)/.installed
INSTALLED_BENCH := $(VENV)/.installed-bench
OLDEST := .venv-oldest
FUZZ_MINUTES ?= 4
FUZZ_SEED ?= 0
CORE := $(wildcard src/isinglass/_core/*.hpp src/isinglass/_core/*/*.cpp src/isinglass/_core/*/*.hpp)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
# Modules are compiled to bytecode when they are first imported: most of what is installed never is.
export PIP_COMPILE := 0
# The tests start some hundred interpreters, and each would compile the whole package again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo test test-short test-long test-core fuzz sanitize sanitize-quick FORCE test-oldest check check-core check-page wheel bench paper paper-quick docs clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(INSTALLED)  ## create .venv with the package (editable) and the development tools

demo: $(PACKAGE)  ## fit the U.S. Senate and a questionnaire, write reports and tables into demo/
	$(BIN)/isinglass demo -o demo

# Beside each other: fetching packages and waiting for browsers leave the processors time to compile.
test:  ## run the tests, except the long ones
	$(MAKE) --no-print-directory --jobs 2 test-short test-core

test-short: $(INSTALLED_TEST)
	$(PYTEST) -m "not long"

test-long: $(INSTALLED_TEST)  ## run the long tests: repetitions, hostile files of full size, processes that are killed
	$(PYTEST) -m long

# One worker more than processors: a fifth of the time of two went into waiting for browsers and other processes.
WORKERS := $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN || echo 1))
PYTEST := $(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

# doctest is a package of the system (Debian: doctest-dev); where it or cmake is missing these tests are skipped.
CORE_SANITIZE ?=
CORE_TESTS := build/core-tests$(CORE_SANITIZE)
test-core:  ## test the core from C++ (needs cmake and doctest)
	@if command -v cmake >/dev/null && echo '#include <doctest/doctest.h>' | $(CXX) -E -x c++ - >/dev/null 2>&1; then \
		cmake -S tests/_core/cpp -B $(CORE_TESTS) -DISINGLASS_SANITIZE=$(CORE_SANITIZE) >/dev/null && \
		MAKEFLAGS= cmake --build $(CORE_TESTS) --parallel 2 >/dev/null && \
		for set in portable v4; do \
			ISINGLASS_KERNELS=$$set $(if $(findstring thread,$(CORE_SANITIZE)),setarch -R) $(CORE_TESTS)/core_tests || exit 1; \
		done; \
	else echo "cmake or doctest is not installed: the core is not tested from C++"; fi

fuzz: $(INSTALLED)  ## run random tests for FUZZ_MINUTES (4), all suites or those in FUZZ_SUITES
	$(BIN)/python tests/fuzz $(FUZZ_SUITES) --minutes $(FUZZ_MINUTES) --seed $(FUZZ_SEED)

# What runs kernels without starting a process, which would not use this build; some ten minutes on two cores.
SANITIZED := tests/_core tests/simulate \
	$(addprefix tests/solve/test_,hard_tables.py path.py rows.py dense.py ordinal.py nominal.py)
sanitize: $(INSTALLED)  ## run the tests of the core under the address, undefined-behavior and thread sanitizers
	$(MAKE) --no-print-directory test-core CORE_SANITIZE=address,undefined
	$(MAKE) --no-print-directory test-core CORE_SANITIZE=thread
	$(MAKE) --no-print-directory build/sanitize-address,undefined build/sanitize-thread

sanitize-quick: $(INSTALLED)  ## run tests/_core under the first two of these; seconds, once it is built
	$(MAKE) --no-print-directory build/sanitize-address,undefined SANITIZED=tests/_core

# Memory of Python itself is not ours to check; a module with a sanitizer needs its runtime loaded first. The thread
# sanitizer does not get along with random addresses, hence setarch.
build/sanitize-%: $(INSTALLED) FORCE
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $@ --config-settings=build-dir=$@ \
		--config-settings=cmake.build-type=RelWithDebInfo --config-settings=cmake.define.ISINGLASS_SANITIZE=$* .
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 TSAN_OPTIONS=halt_on_error=1 OPENBLAS_NUM_THREADS=1 \
		LD_PRELOAD="$$($(CXX) -print-file-name=$(if $(findstring thread,$*),libtsan.so,libasan.so)) $$($(CXX) -print-file-name=libstdc++.so)" \
		setarch -R $(BIN)/python tests/_core/sanitized.py $$(echo $@/_native.*.so) $(SANITIZED)

FORCE:

test-oldest: $(OLDEST)/.installed  ## run estimators and command line with the oldest supported packages
	$(OLDEST)/bin/python -m pytest tests/estimators/test_estimators.py tests/estimators/test_sklearn_checks.py \
		tests/cli/oldest.py

check: $(INSTALLED)  ## lint, formatting, types and documentation (no tests)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(CORE)
	$(MAKE) --no-print-directory check-core
	$(MAKE) --no-print-directory check-page
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

# The bindings are left out: they would need nanobind. The kernels are looked at once, not for every instruction set.
TIDY := $(filter-out %kernels_v3.cpp %kernels_v4.cpp,$(filter %.cpp,$(filter-out src/isinglass/_core/bind/%,$(CORE))))
check-core: $(INSTALLED)  ## look for mistakes in the core with clang-tidy
	printf '%s\n' $(TIDY) | xargs -P 2 -I {} $(BIN)/clang-tidy --quiet {} -- -std=c++20 -Isrc/isinglass/_core -DISINGLASS_X86=1

# The pages run their scripts as one, so the linter sees them that way too.
ESLINT := tools/eslint
check-page:  ## lint the scripts of the report and of the app (needs npm)
ifeq ($(shell command -v npm),)
	@echo "npm is not installed: the scripts of the pages are not linted"
else
	test -d $(ESLINT)/node_modules || npm install --prefix $(ESLINT) --no-package-lock --no-audit --no-fund --silent
	mkdir -p build && $(BIN)/python -c "from isinglass.show.report.page import SCRIPTS, read_part; print(*map(read_part, SCRIPTS), sep='\n')" > build/page.js
	cat src/isinglass/show/report/elements.js $(addprefix src/isinglass/app/,$(addsuffix .js,client page columns settings jobs results controls)) > build/app.js
	$(ESLINT)/node_modules/.bin/eslint --config $(ESLINT)/eslint.config.js build/page.js build/app.js
endif

wheel: $(INSTALLED)  ## build a wheel and an sdist into dist/, try the wheel in an environment without a compiler
	rm -rf dist build/wheel-env
	$(BIN)/python -m build --outdir dist --config-setting=build-dir=build/wheel .
	$(PYTHON) -m venv build/wheel-env
	CC=/bin/false CXX=/bin/false build/wheel-env/bin/python -m pip install --quiet --only-binary :all: dist/*.whl
	cd build && PATH=/nonexistent wheel-env/bin/python ../tools/smoke.py

bench: $(INSTALLED_BENCH)  ## measure speed and accuracy against other solvers
	$(BIN)/python benchmarks/run.py

paper: $(INSTALLED)  ## repeat the paper's tables and figures, write docs/paper.md (resumes; up to an hour)
	$(BIN)/python -m paper

paper-quick: $(INSTALLED)  ## repeat a small version of them in build/paper-quick
	$(BIN)/python -m paper --quick

docs: $(INSTALLED)  ## build the documentation into docs/_build/html
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

clean:  ## remove everything that make created
	rm -rf $(VENV) $(OLDEST) $(ESLINT)/node_modules build dist demo docs/_build docs/api docs/gallery docs/tutorials paper/.cache
	rm -rf .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -path ./.git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# An editable installation has a list of the modules: it is made again when one is added, renamed or removed.
$(VENV)/.modules: FORCE
	@mkdir -p $(VENV) && find src -name '*.py' | LC_ALL=C sort > $@.new && \
		if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# What the demo needs. Editing Python needs no reinstall; editing the kernels or the metadata does. Warnings of the
# compiler are errors in continuous integration only: another compiler has other warnings.
$(PACKAGE): pyproject.toml CMakeLists.txt $(CORE) $(VENV)/.modules
	$(PYTHON) -c 'import sys; assert sys.version_info >= (3, 11), "isinglass needs Python 3.11 or newer"'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet $(if $(CI),--config-settings cmake.define.ISINGLASS_WERROR=ON) --editable ".[plot]"
	touch $@

# The pip that comes with older interpreters does not know dependency groups (25.1 does), hence the upgrade.
$(INSTALLED_TEST): $(PACKAGE)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --group test
	touch $@

$(INSTALLED): $(INSTALLED_TEST)
	$(BIN)/python -m pip install --quiet --group dev
	touch $@

# A build folder of its own: sharing one would compile everything anew each time the two alternate.
$(OLDEST)/.installed: pyproject.toml CMakeLists.txt tests/oldest.txt $(CORE)
	test -x $(OLDEST)/bin/python || $(PYTHON) -m venv $(OLDEST)
	$(OLDEST)/bin/python -m pip install --quiet --constraint tests/oldest.txt --config-settings build-dir=build/oldest \
		--editable . pandas polars pyarrow pytest pytest-timeout hypothesis
	touch $@

$(INSTALLED_BENCH): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --group bench
	touch $@
