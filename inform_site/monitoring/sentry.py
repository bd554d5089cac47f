"""Reports of failures by Sentry's protocol, where INFORM_SENTRY_DSN asks for them: class and place, never a text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings

from inform_site import logs

FRAME = ("filename", "function", "module", "lineno", "in_app")
EVENT = ("event_id", "timestamp", "level", "logger", "platform", "release", "environment", "server_name", "sdk")


def start() -> None:
    """Report failures from now on, if the settings name a place for them."""
    if not settings.SENTRY_DSN:
        return
    import sentry_sdk

    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        before_send=before_send,
        before_breadcrumb=lambda crumb, hint: None,
        include_local_variables=False,
        include_source_context=False,
        max_request_body_size="never",
        auto_session_tracking=False,
    )


def before_send(event: Mapping[str, Any], hint: Mapping[str, Any]) -> Any:
    """Return a new event of what is named here; whatever else was gathered may hold a question and is left out."""
    return {name: event[name] for name in EVENT if name in event} | {
        "tags": {"request_id": logs.request_id.get()},
        "transaction": event.get("transaction", ""),
        "exception": {"values": [_exception(one) for one in event.get("exception", {}).get("values", ())]},
        "logentry": {"message": event.get("logentry", {}).get("message", "")},  # the template, without its values
    }


def _exception(one: Mapping[str, Any]) -> dict[str, Any]:
    frames = one.get("stacktrace", {}).get("frames", ()) if one.get("stacktrace") else ()
    return {
        "type": one.get("type"),
        "module": one.get("module"),
        "stacktrace": {"frames": [{name: frame[name] for name in FRAME if name in frame} for frame in frames]},
    }
