"""The ASGI entry, which the site is served by."""

import gc
import logging
import os
import threading

from inform_site import serving
from inform_site.assistants import beside

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")

site = serving.make_site()

from inform_site.intake import guarded  # noqa: E402  # it needs the tables, which are there only now

application = beside(guarded(site))


def _warm_up() -> None:
    """Loads the models beside the start, so that the first question does not wait for them."""
    from corpus_app import search
    from qa_app.answers import answering
    from qa_app.pipeline.ports import RerankerFailed

    try:
        search.warm_up()
    except search.EncoderUnavailable as error:
        logging.getLogger(__name__).warning("%s Questions are searched by words alone.", error)
    answering.warm_up()
    reranker = answering.reranker()
    try:
        if reranker is not None:
            reranker.prepare()
    except RerankerFailed as error:
        logging.getLogger(__name__).warning("INFORM_RERANKER %s. Passages stay in the built-in order.", error)


def _settle() -> None:
    """What is loaded now stays: the collector need not look through it again and again, nor at every few hundred new objects."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_FROM, COLLECT_OLDER_EACH, COLLECT_OLDER_EACH)


def _start() -> None:
    _warm_up()
    _settle()


COLLECT_FROM = 10_000  # new objects: an answer makes about a hundred thousand, and hardly any of them in circles
COLLECT_OLDER_EACH = 20

threading.Thread(target=_start, name="warm-up", daemon=True).start()
