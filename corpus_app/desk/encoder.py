"""The admin page of the encoder: its state, the progress of a change, and the buttons that change it."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from corpus_app import curation, embedding, indexing, search
from corpus_app.desk.base import curator, error_messages
from corpus_app.models import ANN_FROM, ApproximateIndex, Study

PERMISSION = "corpus_app.manage_vectors"


def encoder(model_admin: admin.ModelAdmin[Study], request: HttpRequest) -> HttpResponse:
    """Show the state on GET; on POST apply `do`: `change` (to `name`), `drop` or `again`."""
    if not request.user.has_perm(PERMISSION):
        raise PermissionDenied
    used = search.encoder_name()
    if request.method == "POST":
        return _apply(request, used)
    state = indexing.read_state(used=used)
    active = next(row for row in state.encoders if row.is_active)
    context: dict[str, Any] = {
        **model_admin.admin_site.each_context(request),
        "title": "Encoder and vectors",
        "opts": model_admin.opts,
        "state": state,
        "active": active,
        "used": used,
        "kept": embedding.fallback_name(),
        "is_changing": used != active.name,
        "done": state.passages - state.waiting - state.failed,
        "minutes_left": _minutes_left(state.waiting),
        "indexes": ApproximateIndex.objects.all(),
        "build": indexing.build_progress(),
        "index_from": ANN_FROM,
        "on_offer": [name for name in embedding.on_offer() if name not in (active.name, embedding.fallback_name())],
    }
    return TemplateResponse(request, "admin/corpus_app/study/encoder.html", context)


def _minutes_left(waiting: int) -> int | None:
    """Return how long the waiting passages still take at the pace of all workers; None when that is unknown."""
    pace = indexing.pace()
    return round(waiting / pace / 60) + 1 if waiting and pace else None


def _apply(request: HttpRequest, used: str) -> HttpResponse:
    by, what = curator(request), request.POST.get("do")
    try:
        if what == "change":
            curation.change_encoder(request.POST.get("name", ""), used=used, by=by)
            messages.success(request, "The change has begun. Search goes on as before until it is complete.")
        elif what == "drop":
            curation.drop_former_vectors(by=by)
            messages.success(request, "The former vectors are gone.")
        elif what == "again":
            asked = curation.embed_again(by=by)
            messages.success(request, f"{asked} passages will be embedded again, one after the other.")
    except curation.CurationError as error:
        for reason in error_messages(error):
            messages.error(request, reason)
    return HttpResponseRedirect(request.path)
