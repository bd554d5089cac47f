# The site's image: the same code and pins as `make run`, without the embedded database.
FROM python:3.11-slim-bookworm

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PIP_DISABLE_PIP_VERSION_CHECK=1 \
    PIP_NO_CACHE_DIR=1 \
    HF_HUB_OFFLINE=1 \
    TOKENIZERS_PARALLELISM=false

WORKDIR /srv/inform

# telemetry: traces and error reports too; mcp: the site for assistants
ARG LOCK=base
COPY requirements/torch.txt requirements/${LOCK}.lock requirements/
RUN pip install --no-deps --require-hashes --extra-index-url https://download.pytorch.org/whl/cpu --requirement requirements/torch.txt \
    && pip install --require-hashes --requirement requirements/${LOCK}.lock

COPY . .
RUN useradd --system --no-create-home --shell /usr/sbin/nologin inform \
    && install --directory --owner inform .data .data/models /var/lib/inform \
    && INFORM_PRODUCTION=true SECRET_KEY=only-to-collect ALLOWED_HOSTS=localhost DATABASE_URL=postgresql://nowhere/none \
       python manage.py collectstatic --no-input

USER inform
EXPOSE 8000
CMD ["python", "-m", "uvicorn", "inform_site.asgi:application", "--host", "0.0.0.0", "--port", "8000", "--no-access-log", "--no-proxy-headers"]
