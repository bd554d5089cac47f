"""The site: settings, addresses, the worker, and how it all starts."""

from inform_site.celery import app as celery_app

__all__ = ["celery_app"]
