"""Wake-up calls to the worker. The rows describe the work, so a lost call costs only time."""

from __future__ import annotations

import logging
import threading
import time

import celery

logger = logging.getLogger(__name__)

QUEUE_WAIT_SECONDS = 1.0  # a page waits no longer for the queue; the schedule picks up what was missed
PAUSE_SECONDS = 30.0  # a queue that hung is left alone for so long

_resumes_at = 0.0


def wake(task: str) -> None:
    """Ask a worker to run a task by its name. Never raises, and blocks for at most QUEUE_WAIT_SECONDS."""
    global _resumes_at
    if time.monotonic() < _resumes_at:
        return
    sender = threading.Thread(target=_send, args=[task], name=f"wake-{task}", daemon=True)
    sender.start()
    sender.join(QUEUE_WAIT_SECONDS)
    if sender.is_alive():
        # The first message of a process may wait for a listening worker: pgmq creates the queue under the same lock.
        _resumes_at = time.monotonic() + PAUSE_SECONDS
        logger.debug("The queue takes its time; %s runs once it answers, or when the schedule comes round.", task)


def _send(task: str) -> None:
    global _resumes_at
    try:
        celery.current_app.send_task(task, retry=False)
        _resumes_at = 0.0
    except Exception as error:  # a broker fails in many ways, and saving must not
        logger.warning("The queue cannot be reached (%s); %s runs on schedule.", type(error).__name__, task)
