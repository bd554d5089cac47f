"""The Celery application. Messages only wake the worker; the rows describe the work."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")

app = Celery("inform")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
