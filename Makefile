# Every target sets up what it needs; `make run` and `make test` work on a fresh machine with Python 3.11.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
TEST_STAMP := $(VENV)/.installed-test

.PHONY: run start screenshots cluster cluster-services dev test test-all check witness lint format openapi clients docs wheel coverage bench soak real-day test-dates simulate backup restore lock clean help

help:
	@echo "make run       the platform on the sample market (API 8000, Dagster UI 3000)"
	@echo "make start     some securities of the real market: CODES=600519,000300.SH SINCE=2016-01-01, DATA_DIR"
	@echo "make cluster   the production topology on this machine: servers, step workers, two API processes"
	@echo "make cluster-services  installs the servers that it does not find"
	@echo "make dev       the same, and each process restarts when its code changes"
	@echo "make simulate  the simulated upstreams alone (HTTP 8900, terminal protocol 7709 to 7712)"
	@echo "make backup    copies the state while it runs (TO=a new folder, else one in data/backups)"
	@echo "make restore   a backup into a platform that does not run (FROM=DIR, REPLACE=1 if there is data)"
	@echo "make test      lint, types and tests, about 10 minutes on 2 cores"
	@echo "make test-all  the same with processes, browser, servers and whole products (CI), about 50 minutes"
	@echo "make check     lint, types and the tests of what changed (CHANGED=revision, else the last commit)"
	@echo "make lint      ruff, mypy and import-linter"
	@echo "make format    ruff brings the sources into shape"
	@echo "make coverage  the tests of ARGS, else all, with the lines that none of them ran"
	@echo "make docs      the derived parts of the documentation"
	@echo "make wheel     the client alone as dist/ashare_client-*.whl, for other environments"
	@echo "make clients   typed clients for Python and TypeScript in dist/clients (the latter by npx)"
	@echo "make openapi   print the OpenAPI document"
	@echo "make real-day  a day on real bars, compared with the files (DATA=DIR ARGS='--until DATE')"
	@echo "make bench     benchmarks with their baselines"
	@echo "make screenshots  pictures of the console for the README (ADDRESS=, else of a sample platform)"
	@echo "make witness   public clients read the simulated market with their own parsers"
	@echo "make soak      the long sizes of the tests"
	@echo "make test-dates  the tests at other dates of the system clock (DATES='2027-01-05 ...' ARGS=tests/core)"
	@echo "make lock      the lock files with hashes, after a change of pyproject.toml or constraints.txt"
	@echo "make clean     remove .venv and the caches of the tools, not data/"

$(VENV)/bin/python:
	@command -v $(PYTHON) >/dev/null 2>&1 || PY=python3; \
	PY=$$(command -v $(PYTHON) || command -v python3) || { echo "Python 3.11 or newer is not installed" >&2; exit 1; }; \
	$$PY -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else 1)' || { echo "$$PY is older than Python 3.11; set PYTHON=/path/to/python3.11" >&2; exit 1; }; \
	$$PY -m venv $(VENV) || { rm -rf $(VENV); echo "$$PY cannot make a virtual environment" >&2; exit 1; }

# The locks hold hashes of every file and are made for Python 3.11; a newer one gets the same versions.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
EXTRAS := server
TEST_EXTRAS := test,server,postgres
install = if $(BIN)/python -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; \
	then $(PIP) --require-hashes -r $(1) >&2 && $(PIP) --no-deps -e . >&2; \
	else $(PIP) -c constraints.txt -e '.[$(2)]' >&2; fi

$(STAMP): pyproject.toml requirements.lock | $(VENV)/bin/python
	@echo "installing locked versions into $(VENV) ..." >&2
	@$(call install,requirements.lock,$(EXTRAS))
	@touch $@

$(TEST_STAMP): pyproject.toml requirements-test.lock | $(VENV)/bin/python
	@echo "installing locked versions and what the tests need into $(VENV) ..." >&2
	@$(call install,requirements-test.lock,$(TEST_EXTRAS))
	@touch $(STAMP) $@

# After a change of pyproject.toml or constraints.txt; takes minutes, since every file's hash is asked for.
LOCK := $(BIN)/pip-compile --quiet --generate-hashes --unsafe-package ashare-platform --no-strip-extras --no-header --no-annotate \
	--no-emit-index-url --no-emit-trusted-host --no-emit-find-links -c constraints.txt --extra server
lock: | $(VENV)/bin/python
	@$(PIP) pip-tools >&2
	@$(LOCK) -o requirements.lock pyproject.toml
	@$(LOCK) --extra postgres --extra test -o requirements-test.lock pyproject.toml
	@# That of the image: Dagster's storage is PostgreSQL's, its step workers are Celery's.
	@$(LOCK) --extra postgres --extra celery -o docker/requirements.lock pyproject.toml
	@sed -i.part -e '/^# WARNING/,$$d' requirements.lock requirements-test.lock docker/requirements.lock && rm -f requirements*.lock.part docker/*.part

run: $(STAMP)
	@exec $(BIN)/ashare run

start: $(STAMP)
	@exec $(BIN)/ashare start $(if $(CODES),--codes '$(CODES)') $(if $(SINCE),--since '$(SINCE)')

# Servers that run already (WAREHOUSE_URL, DAGSTER_POSTGRES_URL, BROKER_URL, else those on loopback).
CLUSTER_STAMP := $(VENV)/.installed-cluster
$(CLUSTER_STAMP): $(STAMP)
	@$(BIN)/python -c 'import dagster_celery, dagster_postgres' 2>/dev/null || $(PIP) -c constraints.txt -e '.[postgres,celery]' >&2
	@touch $@

cluster: $(CLUSTER_STAMP)
	@exec $(BIN)/python -m schedules.supervisor.cluster

# Installs and starts the servers that are missing, by the distribution's package manager; asks for root.
cluster-services: $(CLUSTER_STAMP)
	@exec $(BIN)/python -m schedules.supervisor.services

# watchfiles is an extra of the tests.
dev: $(TEST_STAMP)
	@exec $(BIN)/python -m schedules.supervisor.development

simulate: $(STAMP)
	@exec $(BIN)/python -m simulated_market --http-port 8900 --tcp-port 7709

backup: $(STAMP)
	@$(BIN)/ashare backup $(if $(TO),--out '$(TO)')

restore: $(STAMP)
	@test -n '$(FROM)' || { echo "FROM: name the folder of a backup, make restore FROM=data/backups/..." >&2; exit 1; }
	@$(BIN)/ashare restore '$(FROM)' $(if $(REPLACE),--replace)

openapi: $(STAMP)
	@$(BIN)/python -m serving_api.openapi

# The client with the modules that it imports, below one name (docs/decisions/0030-client-wheel.md).
wheel: | $(VENV)/bin/python
	@rm -rf build/client && $(BIN)/python client_wheel/assemble.py build/client
	@$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist build/client
	@ls dist/ashare_client-*.whl

# Packages of typed calls by public generators. That of TypeScript needs Node and its registry.
clients: $(TEST_STAMP)
	@rm -rf dist/clients && mkdir -p dist/clients && cp -R clients/typescript dist/clients/typescript
	@$(BIN)/python -m serving_api.openapi > dist/clients/openapi.json
	@$(BIN)/openapi-python-client generate --path dist/clients/openapi.json --output-path dist/clients/python \
		--config clients/python.json
	@# A default is what the platform takes when nothing is sent: the value need not be sent.
	@npx --yes openapi-typescript@7 dist/clients/openapi.json --default-non-nullable false \
		-o dist/clients/typescript/schema.d.ts
	@ls -d dist/clients/*

docs: $(STAMP)
	@$(BIN)/python -m platform_assets.documentation

lint: $(TEST_STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

format: $(TEST_STAMP)
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

# Kernels are compiled while the linters run: the test workers find them in the cache. Three workers on two
# cores, since some wait for sockets and processes. Of `make test-all` a test that fails for want of a core is
# run once more, and the summary names it (RERUN).
define tests
	@NUMBA_CACHE_DIR=$(CURDIR)/.numba $(BIN)/python -m platform_assets.compute.warm >/dev/null & \
	$(MAKE) --no-print-directory lint && wait
	@$(BIN)/python -m pytest -n 3 --dist loadfile --no-loadscope-reorder -r fER -m $(1)
endef

test: $(TEST_STAMP)
	$(call tests,"not soak and not full")

# The tests of the console need a browser: Debian's is installed where this is allowed, else they are skipped.
BROWSER := command -v chromium >/dev/null 2>&1 || test "$$(id -u)" -ne 0 || ! command -v apt-get >/dev/null 2>&1 \
	|| DEBIAN_FRONTEND=noninteractive timeout 180 apt-get install -y --no-install-recommends chromium >/dev/null 2>&1 \
	|| echo "chromium could not be installed: the tests of the console are skipped" >&2

test-all: $(TEST_STAMP)
	@$(BROWSER)
	$(call tests,"not soak" --reruns 1)

# What changed since the last commit, or since the revision CHANGED.
check: $(TEST_STAMP)
	@$(BIN)/ruff check -q . && $(BIN)/ruff format --check -q . && $(BIN)/mypy
	@files=$$($(BIN)/python -m tests.changed $(or $(filter-out 1,$(CHANGED)),HEAD)) && \
	{ test -z "$$files" || $(BIN)/python -m pytest -m "not soak and not full" $$files; }

# Slower than `make test`: every line is traced, compiled kernels are not counted.
coverage: $(TEST_STAMP)
	@$(BIN)/python -m pytest -n 3 --dist loadfile -m "not soak" --cov --cov-report=term:skip-covered $(ARGS)

bench: $(TEST_STAMP)
	@$(BIN)/python -m tests.benchmarks $(ARGS)

screenshots: $(TEST_STAMP)
	@$(BIN)/python -m tests.console.screenshots $(ADDRESS) $(if $(PASSWORD_FILE),--password-file '$(PASSWORD_FILE)')

witness: $(TEST_STAMP)
	@$(BIN)/python -m pytest tests/witness tests/simulated_market/tdx/test_pytdx.py

soak: $(TEST_STAMP)
	@$(BIN)/python -m tests.soak

# The tests with the system clock at other dates. DATES and ARGS as needed.
DATES ?= 2027-01-05 2027-02-20 2028-03-01
test-dates: $(TEST_STAMP)
	@for date in $(DATES); do \
		echo "the system clock says $$date"; \
		PYTHONPATH=$(CURDIR)/tests/other_dates TEST_DATE=$$date TEST_DATE_SINCE=$$(date +%s) \
			$(BIN)/python -m pytest -n 3 --dist loadfile -m "not soak" -p no:cacheprovider $(ARGS) || exit 1; \
	done

real-day: $(TEST_STAMP)
	@exec $(BIN)/python -m tests.real_day $(if $(DATA),--data '$(DATA)') $(ARGS)

clean:
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage .coverage.*
