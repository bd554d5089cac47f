"""The site: settings, addresses, the worker, and how it all starts."""

import os

# Before numpy is loaded: the products here are small, and after each its threads would spin for milliseconds on the processors
# that the database and the encoder want.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from inform_site.celery import app as celery_app

__all__ = ["celery_app"]
