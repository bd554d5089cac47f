"""The site's Celery application, slow and in small steps, so that a test can kill it in the middle."""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import django
from celery.signals import worker_process_init

from inform_site.celery import app as app

django.setup()

from corpus_app import embedding  # noqa: E402  # imports models, so after setup
from corpus_app.embedding import Matrix  # noqa: E402
from tests.fakes import WordHashEncoder  # noqa: E402

ENDLESS = "endless.ris"
"""The name of a file that is never read to its end."""


class SlowEncoder(WordHashEncoder):
    def encode(self, texts: Sequence[str], *, threads: int = 1) -> Matrix:
        time.sleep(0.25)
        return super().encode(texts, threads=threads)


for_good = ExitStack()  # kept by the module: forgotten, it would put the model back
for_good.enter_context(embedding.use(SlowEncoder()))


@worker_process_init.connect
def take_small_steps(**details: Any) -> None:
    from corpus_app.curation import jobs  # once Django is set up

    jobs.IMPORTED_AT_ONCE = 4
    read = jobs.sources.stream

    def stream(source: Any, intake: Any) -> Any:
        while source.name == ENDLESS:
            time.sleep(0.1)
        return read(source, intake)

    jobs.sources.stream = stream
