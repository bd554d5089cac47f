"""Admin pages of Zotero: connect a library, choose one of its collections, and have it fetched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse

from corpus_app.curation import CurationError, jobs, zotero
from corpus_app.curation.fetching import LookupFailed
from corpus_app.desk.base import curator, error_messages
from corpus_app.models import ImportJob, ZoteroLibrary


class ConnectForm(forms.Form):
    kind = forms.ChoiceField(
        label="Whose library", choices=[("users", "My own library"), ("groups", "The library of a group")]
    )
    number = forms.CharField(
        label="Its number",
        max_length=12,
        widget=forms.TextInput(attrs={"inputmode": "numeric", "size": 12}),
        help_text="Of your own: “Your userID” at zotero.org/settings/keys. Of a group: in the group's address.",
    )
    key = forms.CharField(
        label="API key",
        max_length=64,
        widget=forms.PasswordInput(attrs={"autocomplete": "off", "size": 40}),
        help_text="Made at zotero.org/settings/keys; reading is enough. "
        "It is stored encrypted, is not shown again, and only you use it.",
    )


def urls(model_admin: admin.ModelAdmin[ImportJob]) -> list[URLPattern]:
    def page(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        def guarded(request: HttpRequest, **named: Any) -> HttpResponse:
            if not request.user.has_perm("corpus_app.add_importjob"):
                raise PermissionDenied
            return view(model_admin, request, **named)

        return model_admin.admin_site.admin_view(guarded)

    return [
        path("zotero/", page(libraries), name="corpus_app_importjob_zotero"),
        path("zotero/<int:key>/", page(collections), name="corpus_app_importjob_zotero_library"),
    ]


def libraries(model_admin: admin.ModelAdmin[ImportJob], request: HttpRequest) -> HttpResponse:
    """Show the curator's libraries; connect or remove one on POST."""
    by = curator(request)
    own = ZoteroLibrary.objects.filter(owner=by)
    form = ConnectForm(request.POST if request.POST.get("verb") == "connect" else None)
    if request.method == "POST" and (removed := request.POST.get("remove", "")):
        own.filter(pk=int(removed) if removed.isdecimal() and len(removed) < 19 else 0).delete()
        messages.success(request, "The connection and its key were removed.")
        return HttpResponseRedirect(request.path)
    if form.is_bound and form.is_valid():
        asked = form.cleaned_data
        try:
            library = zotero.connect(by, f"{asked['kind']}/{asked['number'].strip()}", asked["key"].strip())
        except CurationError as error:
            form.add_error(None, list(error_messages(error)))
        else:
            return HttpResponseRedirect(reverse("admin:corpus_app_importjob_zotero_library", args=[library.pk]))
    return _page(model_admin, request, "zotero.html", title="Zotero", form=form, libraries=own)


def collections(model_admin: admin.ModelAdmin[ImportJob], request: HttpRequest, *, key: int) -> HttpResponse:
    """Show the collections of a library; order the items of one on POST."""
    by = curator(request)
    library = get_object_or_404(ZoteroLibrary, owner=by, pk=key)
    found: list[zotero.ZoteroCollection] = []
    fault = ""
    try:
        found = zotero.collections(library)
    except LookupFailed as failed:
        fault = str(failed)
    wanted = request.POST.get("collection", "")
    chosen = next((one for one in found if one.key == wanted), None)
    if request.method == "POST" and chosen:
        content = zotero.request_of(library, wanted, only_changes="everything" not in request.POST)
        name = f"Zotero: {chosen.name}"
        job = jobs.create_job(content, file_name=name, by=by, way=ImportJob.Way.ZOTERO)
        jobs.wake_worker()
        return HttpResponseRedirect(reverse("admin:corpus_app_importjob_change", args=[job.pk]))
    rows = [(one, zotero.last_version(library, one.key)) for one in found]
    title = f"Collections of {library}"
    return _page(model_admin, request, "zotero_library.html", title=title, library=library, rows=rows, fault=fault)


def _page(
    model_admin: admin.ModelAdmin[ImportJob], request: HttpRequest, template: str, **context: Any
) -> HttpResponse:
    whole = {**model_admin.admin_site.each_context(request), "opts": model_admin.opts, **context}
    return TemplateResponse(request, f"admin/corpus_app/importjob/{template}", whole)
