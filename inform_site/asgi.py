"""The ASGI application that serves the site."""

import gc
import logging
import os
import sys
import threading

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from inform_site import serving
from inform_site.assistants import mount_mcp

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inform_site.settings")

site = serving.make_site()

from inform_site import releases  # noqa: E402  # imports models, so after setup
from inform_site.body_limits import limit_bodies  # noqa: E402
from inform_site.monitoring.requests import watch_requests  # noqa: E402

try:
    releases.require_known_database()
except ImproperlyConfigured as error:
    sys.exit(str(error))
except DatabaseError as error:  # it may come later
    logging.getLogger(__name__).warning("The database does not answer yet: %s", error)

application = watch_requests(serving.refuse_early(mount_mcp(limit_bodies(site)), site.gate))


def _warm_up() -> None:
    """Load the models in the background, so that the first question does not wait for them."""
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


def _freeze_objects() -> None:
    """Exclude the loaded objects from garbage collection and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(COLLECT_FROM, COLLECT_OLDER_EACH, COLLECT_OLDER_EACH)


def _start() -> None:
    _warm_up()
    _freeze_objects()


sys.setswitchinterval(0.001)  # seconds, of 0.005: under load the event loop, which refuses, gets its turn sooner

COLLECT_FROM = 10_000  # new objects: an answer makes about 100,000, hardly any of them in reference cycles
COLLECT_OLDER_EACH = 20

threading.Thread(target=_start, name="warm-up", daemon=True).start()
