"""Django project: settings, URLs, the worker and the commands that start everything."""

import os

# Set before numpy is imported. Our matrix products are small; after each, OpenBLAS threads would busy-wait for
# milliseconds on cores that the database and the encoder need.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from inform_site.celery import app as celery_app

__all__ = ["__version__", "celery_app"]

__version__ = "1.0.0"
