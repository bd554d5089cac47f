"""The page of curators' comments on a study."""

from __future__ import annotations

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse

from corpus_app import curation
from corpus_app.desk.base import curator
from corpus_app.models import Study


class CommentForm(forms.Form):
    text = forms.CharField(
        label="Your comment",
        widget=forms.Textarea(attrs={"rows": 4, "cols": 70}),
        max_length=4_000,
        error_messages={"required": "Write something first."},
    )

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        if fault := curation.find_text_fault("text", text):
            raise forms.ValidationError(fault)
        return text


def comments(model_admin: admin.ModelAdmin[Study], request: HttpRequest, object_id: str) -> HttpResponse:
    """Show the comments on a study, oldest first, and add one on POST."""
    study = model_admin.get_object(request, object_id)
    if study is None:
        raise Http404
    if not request.user.has_perm("corpus_app.view_studycomment"):
        raise PermissionDenied
    may_comment = request.user.has_perm("corpus_app.add_studycomment")
    form = CommentForm(request.POST or None)
    if request.method == "POST":
        if not may_comment:
            raise PermissionDenied
        if form.is_valid():
            curation.comment(study.study_id, form.cleaned_data["text"], by=curator(request))
            messages.success(request, "Your comment was added.")
            return HttpResponseRedirect(request.path)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": f"Comments on {study.study_id}",
        "opts": model_admin.opts,
        "study": study,
        "comments": study.comments.all(),
        "form": form if may_comment else None,
    }
    return TemplateResponse(request, "admin/corpus_app/study/comments.html", context)
