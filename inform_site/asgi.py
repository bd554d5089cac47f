"""The ASGI entry, which the site is served by."""

import gc
import logging
import os
import sys
import threading
import time

from inform_site import memory, serving
from inform_site.assistants import beside

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")

site = serving.make_site()

from inform_site.intake import guarded  # noqa: E402  # it needs the tables, which are there only now

application = beside(guarded(site))


def _warm_up() -> None:
    """Loads the models beside the start, so that the first question does not wait for them."""
    from corpus_app import search
    from qa_app import answering
    from qa_app.pipeline.ports import RerankerFailed

    try:
        search.warm_up()
    except search.EncoderUnavailable as error:
        logging.getLogger(__name__).warning("%s Questions are searched by words alone.", error)
    reranker = answering.reranker()
    try:
        if reranker is not None:
            reranker.prepare()
    except RerankerFailed as error:
        logging.getLogger(__name__).warning("INFORM_RERANKER %s. Passages stay in the built-in order.", error)


def _rehearse() -> None:
    """What questions need of the corpus is worked out before anybody asks, beside whatever the site does."""
    from django.db import connection

    from qa_app import answering

    try:
        answering.rehearse(rest=time.sleep)
    except Exception as error:  # whatever it is, the site goes on without it
        logging.getLogger(__name__).warning("The first questions will take longer: %s", error)
    finally:
        connection.close()  # this thread's own


def _settle() -> None:
    """What is loaded now stays: the collector need not look through it again and again, nor at every few hundred new objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_FROM, COLLECT_OLDER_EACH, COLLECT_OLDER_EACH)


def _start() -> None:
    _warm_up()
    _settle()
    _rehearse()
    _settle()
    memory.use_large_pages()


COLLECT_FROM = 10_000  # new objects: an answer makes about a hundred thousand, and hardly any of them in circles
COLLECT_OLDER_EACH = 20

# The encoder's own thread, between two texts, and the event loop need not wait for the usual five milliseconds.
sys.setswitchinterval(0.001)
threading.Thread(target=_start, name="warm-up", daemon=True).start()
