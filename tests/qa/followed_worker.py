"""The site's Celery application with a quick encoder and a slow mail server, so that a test can kill it in the middle."""

import os
import time
from contextlib import ExitStack

from django.conf import settings
from django.core.mail.backends.filebased import EmailBackend

from corpus_app import embedding
from inform_site.celery import app as app
from tests.pipeline.corpora import FITTED, StemHashEncoder

for_good = ExitStack()  # kept by the module: forgotten, it would put the model back
for_good.enter_context(embedding.use(StemHashEncoder(FITTED.name, FITTED.dimensions)))


class SlowMail(EmailBackend):
    def open(self) -> bool | None:
        time.sleep(0.1)
        return super().open()


settings.EMAIL_BACKEND, settings.EMAIL_FILE_PATH = f"{__name__}.SlowMail", os.environ["MAILS"]
