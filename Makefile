# The chores. `make` lists them; the hooks and the CI call the same words.

PYTHON := .venv/bin/python
BOOTSTRAP := inform_site/bootstrap.py
CPU_INDEX := https://download.pytorch.org/whl/cpu

N := 100000
REAL := 5000
SCALE := .data-scale

FAULTS := 224
REQUESTS := 20000
MINUTES := 30

.DEFAULT_GOAL := help
.PHONY: help run new setup quick test check fix fuzz eval calibrate bench bench-scale faults abuse soak screenshots schema settings messages lock pin python

help: ## list the chores
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: python ## install what is missing and run the site on http://127.0.0.1:8000 until Ctrl-C (PORT changes it; CORPUS=garden runs another corpus, CORPUS=none an empty desk)
	@exec python3 -I $(BOOTSTRAP) run

new: setup ## make a folder for a corpus of your own: make new NAME=garden (TITLE: the name of the site)
	@exec $(PYTHON) manage.py new_corpus "$(NAME)" --title "$(TITLE)"

setup: python ## install everything that development needs into .venv
	@exec python3 -I $(BOOTSTRAP) setup

quick: setup ## run the pure tests: no database, no browser, half a minute
	@exec $(PYTHON) -m tests.run quick $(ARGS)

test: python ## run all tests, or only a path (ARGS goes to pytest: make test ARGS=tests/pipeline, make test ARGS="-k fuse")
	@exec python3 -I $(BOOTSTRAP) test $(ARGS)

check: setup ## format, lint, types, import layers, migrations, templates, deployment; changes nothing
	@exec $(PYTHON) tests/check.py

fix: setup ## format, and mend what a tool can mend
	$(PYTHON) -m ruff check --quiet --fix .
	$(PYTHON) -m ruff format --quiet .

fuzz: setup ## read 100,000 made-up texts for citation markers; 1,000 streams whose readers leave; 5,000 requests of each role
	FUZZED=100000 $(PYTHON) -m pytest -q tests/pipeline/test_citations.py -k survives
	STREAMS=1000 $(PYTHON) -m pytest -q tests/qa/test_streaming.py -k "leave_at_any_point"
	FUZZED=5000 $(PYTHON) -m pytest -q tests/api/test_fuzz.py

eval: setup ## measure the answers to the golden questions (READERS: a file of labelled reader questions, too)
	@$(PYTHON) manage.py prepare && $(PYTHON) manage.py index_corpus || exit 1; status=0; \
	    $(PYTHON) manage.py evaluate golden corpus/golden_dev.jsonl --baseline tests/data/baseline.json || status=1; \
	    $(if $(READERS),$(PYTHON) manage.py evaluate readers "$(READERS)" || status=1;) exit $$status

calibrate: setup ## fit relevance, answerability and lead (READERS: a file of labelled reader questions, too)
	@$(PYTHON) manage.py prepare && $(PYTHON) manage.py index_corpus && \
	    exec $(PYTHON) manage.py calibrate relevance $(if $(READERS),--readers "$(READERS)")

bench: setup ## time the encoder and the search
	@exec $(PYTHON) -m lab bench

bench-scale: setup ## fill a data directory of its own (SCALE) with N passages of the text below DATA, and measure its search; without DATA: measure again
	@export INFORM_DATA_DIR="$(abspath $(SCALE))" && $(PYTHON) manage.py migrate --verbosity 0 && \
	    exec $(PYTHON) -m lab bench_scale --passages $(N) --real $(REAL) $(if $(DATA),--text "$(DATA)")

faults: setup ## hurt a site of its own FAULTS times (224) while it works: kills, freezes, a full disk, lost connections, locks
	@exec $(PYTHON) -m lab faults --number $(FAULTS)

abuse: setup ## send a site of its own REQUESTS (20,000) of strangers; ROBUSTNESS: a folder of hostile texts, too
	@exec $(PYTHON) -m lab abuse --number $(REQUESTS) $(if $(ROBUSTNESS),"$(ROBUSTNESS)")

soak: setup ## work a site of its own for MINUTES (30), and see that memory and connections stay as they are
	@exec $(PYTHON) -m lab soak --minutes $(MINUTES)

screenshots: setup ## take a picture of every page, phone and desk, light and dark, to docs/screenshots
	@exec $(PYTHON) -m pytest -q -p no:randomly tests/browser/screenshots.py $(ARGS)

schema: setup ## write what the API says of itself to docs/openapi.yaml
	@exec $(PYTHON) manage.py spectacular --validate --fail-on-warn --file docs/openapi.yaml

settings: setup ## write .env.example and docs/settings.md from the table of settings
	@exec $(PYTHON) -m inform_site.variables

messages: setup ## bring the translations in step with templates and code, and compile them
	@exec $(PYTHON) tests/messages.py

lock: setup ## write the pins of requirements/*.in, with their hashes
	@for name in base mcp telemetry dev; do \
	    echo "requirements/$$name.lock"; \
	    draft=$$(mktemp); \
	    sed 's/^\(torch==[0-9.]*\) /\1+cpu /' requirements/$$name.lock > $$draft; \
	    $(PYTHON) -m uv pip compile --quiet --generate-hashes --python-version 3.11 --output-file $$draft \
	        --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
	        $(if $(PIP_FIND_LINKS),--find-links $(PIP_FIND_LINKS),--extra-index-url $(CPU_INDEX) --index-strategy unsafe-best-match) \
	        requirements/$$name.in || exit 1; \
	    if grep -qE '^(nvidia|triton|cuda)' $$draft; then echo "The CUDA build of torch came along: is $(CPU_INDEX) in reach?" >&2; exit 1; fi; \
	    sed 's/^\(torch==[0-9.]*\)+cpu /\1 /' $$draft > requirements/$$name.lock; \
	    rm -f $$draft; \
	done

pin: ## write the digests that the images' tags name now into .env (needs Docker and its registries)
	@sh deploy/pin_images.sh .env

python:
	@command -v python3 > /dev/null || { echo "InForm needs Python 3.11 or newer, and there is no python3 here: install it and try again." >&2; exit 1; }
