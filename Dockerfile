# The site's image: the same code and pins as `make run`, for every platform that the pins have (docs/operating.md).
#
# The base image is named by its tag: no digest of it was read from a registry for this release. `make pin` reads the
# present one and writes PYTHON_IMAGE into .env; docker-compose.yml hands it over as a build argument.
ARG PYTHON_IMAGE=python:3.11-slim-bookworm
FROM ${PYTHON_IMAGE}

# a test compares the version with inform_site/__init__.py
LABEL org.opencontainers.image.title="InForm" \
      org.opencontainers.image.version="1.0.0" \
      org.opencontainers.image.description="Answers from a corpus, every sentence tied to its passage" \
      org.opencontainers.image.licenses="MIT"

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    HF_HUB_OFFLINE=1 \
    TOKENIZERS_PARALLELISM=false \
    HOME=/tmp

WORKDIR /srv/inform

# telemetry: traces and error reports too; mcp: the site for assistants
ARG LOCK=base
COPY requirements/torch.txt requirements/${LOCK}.lock requirements/
RUN pip install --no-deps --require-hashes --extra-index-url https://download.pytorch.org/whl/cpu --requirement requirements/torch.txt \
    && pip install --require-hashes --only-binary :all: --requirement requirements/${LOCK}.lock

COPY . .
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin inform \
    && install --directory --owner inform .data .data/models /var/lib/inform /var/backups/inform \
    && INFORM_PRODUCTION=true SECRET_KEY=only-to-collect ALLOWED_HOSTS=localhost DATABASE_URL=postgresql://nowhere/none \
       python manage.py collectstatic --no-input

USER inform
EXPOSE 8000
CMD ["python", "-m", "inform_site.web", "--host", "0.0.0.0", "--port", "8000"]
