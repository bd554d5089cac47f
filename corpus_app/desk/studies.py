"""Admin pages of studies, with their passages, findings and concepts as inlines."""

from __future__ import annotations

import re
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import F, Func, QuerySet, TextField, Value
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import path, reverse
from django.utils.text import capfirst, format_lazy
from django.utils.translation import gettext_lazy as _

from common.desk import SeenField
from corpus_app import curation, hooks
from corpus_app.curation import history
from corpus_app.curation.merging import order_by_loss
from corpus_app.desk import (
    bulk,
    comments,
    encoder,
    exports,
    merging,
    proposed_words,
    queue,
    retractions,
    saved_filters,
    standing,
    state,
    text_quality,
)
from corpus_app.desk.base import (
    InlineFormSet,
    LabelledTabularInline,
    LinesField,
    QuestionsForm,
    StackedInline,
    WordsFilter,
    correct_posted_texts,
    curator,
    error_messages,
    save_entries,
)
from corpus_app.desk.facets import FacetsField, facet_choices, hidden_fields
from corpus_app.desk.findings import FindingInline
from corpus_app.desk.history import HistoryMixin
from corpus_app.desk.index_state import state_label, with_index_counts, with_index_state
from corpus_app.desk.risk_of_bias import BiasField
from corpus_app.models import CorpusEvent, Passage, Study, StudyConcept
from corpus_app.records import LABEL_LETTERS, READABLE, Notice, Status
from corpus_app.templatetags.corpus_words import design_choices, design_words

_TEXT = re.compile(r"passages-\d+-text$")
PASSAGE_FIELDS = ("section", "kind", "page", "text", "asked_as")


def design_label(design: str) -> str:
    return str(capfirst(design_words(design)))


class StudyForm(QuestionsForm):
    url = forms.URLField(
        label="URL",
        max_length=1000,
        required=False,
        assume_scheme="https",
        widget=forms.URLInput(attrs={"class": "vURLField"}),
    )
    authors = LinesField(max_length=200, help_text="One on each line, as Family AB.")
    labels = LinesField(
        max_length=LABEL_LETTERS,
        rows=2,
        help_text=format_lazy("{} One on each line.", Study._meta.get_field("labels").help_text),
    )
    risk_of_bias = BiasField(
        label="Risk of bias",
        help_text="Of RoB 2 and ROBINS-I, judge every domain; give a reason for each judgement that is not low.",
    )
    design = forms.ChoiceField()
    facets = FacetsField()
    seen_version = SeenField()

    class Meta:
        model = Study
        fields = [name for name in curation.EDITABLE if name != "derived_numbers"]
        labels = {
            "peer_reviewed": "Peer reviewed",
            "duration_weeks_min": "Shortest duration (weeks)",
            "duration_weeks_max": "Longest duration (weeks)",
            "source_ref": "Row in the source list",
        }
        widgets = {
            "title": forms.Textarea(attrs={"rows": 2, "cols": 90}),
            "population": forms.Textarea(attrs={"rows": 2, "cols": 90}),
            "takeaway": forms.Textarea(attrs={"rows": 2, "cols": 90}),
            "asked_as": forms.Textarea(attrs={"rows": 4, "cols": 90}),
            "curator_notes": forms.Textarea(attrs={"rows": 4, "cols": 90}),
            "status_reason": forms.Textarea(attrs={"rows": 2, "cols": 90}),
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields["seen_version"].initial = self.instance.version
        if design := cast(Any, self.fields.get("design")):
            design.choices = [("", "Choose a design"), *design_choices()]

    def clean_authors(self) -> list[str]:
        return curation.clean_authors(self.cleaned_data["authors"])

    def clean_study_id(self) -> str:
        study_id: str = self.cleaned_data["study_id"]
        try:
            curation.check_new_study_id(study_id)
        except ValidationError as error:
            raise ValidationError(error.messages) from None
        return study_id

    def clean_doi(self) -> str | None:
        return curation.clean_doi(self.cleaned_data["doi"])

    def clean_pmid(self) -> str | None:
        return curation.clean_pmid(self.cleaned_data["pmid"])

    def clean_url(self) -> str | None:
        return curation.clean_url(self.cleaned_data["url"])

    def clean(self) -> dict[str, Any]:
        """Lock the study and add an error when it changed since the page was rendered."""
        cleaned = super().clean()
        if self.instance.pk is None:
            return cleaned
        stored = Study.objects.select_for_update(no_key=True).filter(pk=self.instance.pk).first()
        if stored and cleaned.get("seen_version") != str(stored.version):
            self.add_error(None, str(curation.EditConflict(str(_("this study")))))
        return cleaned


class PassageInlineForm(QuestionsForm):
    order = forms.IntegerField(
        min_value=1,
        required=False,
        widget=forms.NumberInput(attrs={"class": "vIntegerField"}),
    )

    class Meta:
        model = Passage
        fields = PASSAGE_FIELDS
        widgets = {
            "text": forms.Textarea(attrs={"rows": 6, "cols": 90}),
            "asked_as": forms.Textarea(attrs={"rows": 2, "cols": 90}),
        }

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.pk:
            self.fields["order"].initial = self.instance.position + 1
        else:
            self.fields["order"].help_text = "Empty: at the end."


class PassageFormSet(InlineFormSet):
    def clean(self) -> None:
        super().clean()
        remaining = [form for form in self.forms if form.instance.pk or form.has_changed()]
        if self.is_bound:
            remaining = [form for form in remaining if not form.cleaned_data.get("DELETE")]
        if self.instance.pk and self.instance.status == Status.PUBLISHED and not remaining:
            raise ValidationError(list(error_messages(curation.LastPassage())))


class PassageInline(StackedInline):
    model = Passage
    form = PassageInlineForm
    formset = PassageFormSet
    template = "admin/corpus_app/study/passages.html"
    fields = (("order", "section", "kind", "page"), "text", "asked_as", "is_indexed")
    readonly_fields = ("is_indexed",)
    ordering = ("position",)
    extra = 0
    show_change_link = True

    def get_queryset(self, request: HttpRequest) -> QuerySet[Passage]:
        return with_index_state(super().get_queryset(request)).select_related("study", "check_of_text")

    @admin.display(description="indexed")
    def is_indexed(self, passage: Passage) -> str:
        return state_label(passage) if passage.pk else "–"


class StudyConceptInline(LabelledTabularInline):
    model = StudyConcept
    fields = ("concept",)
    autocomplete_fields = ("concept",)
    ordering = ("position",)
    extra = 0
    classes = ("collapse",)
    verbose_name = "concept"
    verbose_name_plural = "concepts"

    def get_queryset(self, request: HttpRequest) -> QuerySet[StudyConcept]:
        return super().get_queryset(request).select_related("concept")


class WordsToWriteFilter(admin.SimpleListFilter):
    title = "to write"
    parameter_name = "words"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [("plain", "Plain words"), ("questions", "Curated questions")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        lacking = {"plain": Study.objects.without_plain_words, "questions": Study.objects.without_questions}
        if self.value() not in lacking:
            return queryset
        return queryset.filter(pk__in=lacking[self.value() or ""]().values("pk"))


class DesignFilter(WordsFilter):
    words = staticmethod(design_label)


@admin.register(Study)
class StudyAdmin(HistoryMixin):
    form = StudyForm
    list_display = ("study_id", "title", "state", "work", "indexed", "year", "kind")
    list_display_links = ("study_id", "title")
    list_filter = (
        queue.QueueFilter,
        "status",
        queue.TextFilter,
        WordsToWriteFilter,
        queue.LabelFilter,
        "notice",
        "collection",
        ("design", DesignFilter),
        "peer_reviewed",
        "year",
        bulk.ImportFilter,
        bulk.BulkEditFilter,
    )
    list_select_related = ("collection", "assignee")
    search_fields = ("study_id", "title", "authors_in_a_line", "doi", "journal")
    search_help_text = _("Words of the title, an author, the journal, a DOI or a study’s id.")
    ordering = ("study_id",)
    inlines = (PassageInline, FindingInline, StudyConceptInline)
    actions = (
        "edit_together",
        "submit_studies",
        "send_studies_back",
        "publish_studies",
        "withdraw_studies",
        "set_notice_of_studies",
        "export_studies",
        "merge_studies",
        "embed_studies_again",
    )
    autocomplete_fields = ()
    fieldsets = (
        (None, {"fields": ("study_id", "title", "authors", ("year", "journal"), ("doi", "pmid"), "url", "collection")}),
        ("State", {"fields": ("status", "status_reason", "notice", "notice_reason", "state_changed_at")}),
        (
            "Design",
            {
                "fields": (
                    ("design", "peer_reviewed"),
                    "population",
                    ("training_status", "age_group", "sex"),
                    "facets",
                    ("n_studies", "n_participants"),
                    ("duration_weeks_min", "duration_weeks_max"),
                )
            },
        ),
        ("Risk of bias", {"fields": ("risk_of_bias",), "classes": ("collapse",)}),
        ("In plain words", {"fields": ("takeaway", "asked_as")}),
        ("Notes", {"fields": ("curator_notes", "labels", ("licence", "source_ref"), "seen_version")}),
    )
    readonly_fields = ("status", "notice", "notice_reason", "state_changed_at")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Study]:
        authors = Func(F("authors"), Value("; "), function="array_to_string", output_field=TextField())
        studies: QuerySet[Study] = with_index_counts(super().get_queryset(request)).annotate(authors_in_a_line=authors)
        return studies

    def get_readonly_fields(self, request: HttpRequest, obj: Study | None = None) -> tuple[str, ...]:
        fixed: tuple[str, ...] = self.readonly_fields
        if obj is None:
            return fixed
        if obj.status in {Status.PUBLISHED, Status.WITHDRAWN, Status.ARCHIVED}:
            fixed += ("status_reason",)
        return (*fixed, "study_id")

    def get_fieldsets(self, request: HttpRequest, obj: Study | None = None) -> Any:
        """Return the fieldsets without the fields of facets that the site does not declare."""
        hidden = hidden_fields(request)
        kept = []
        for title, options in super().get_fieldsets(request, obj):
            rows = [
                tuple(name for name in ((row,) if isinstance(row, str) else row) if name not in hidden)
                for row in options["fields"]
            ]
            if shown := tuple(filter(None, rows)):
                kept.append((title, {**options, "fields": shown}))
        return kept

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **options: Any) -> Any:
        hidden = hidden_fields(request)
        if not change:
            options["fields"] = ["study_id", *(name for name in self.form.Meta.fields if name not in hidden)]
        made = super().get_form(request, obj, change=change, **options)
        if "facets" not in hidden:
            made.base_fields["facets"] = FacetsField(choices=facet_choices())
        for name in hidden:
            made.base_fields.pop(name, None)
        return made

    @admin.display(description="status", ordering="status")
    def state(self, study: Study) -> str:
        """Return the status, followed by the notice, if any."""
        notice = "" if study.notice == Notice.NONE else f", {study.get_notice_display().lower()}"
        return f"{study.get_status_display()}{notice}"

    @admin.display(description="design", ordering="design")
    def kind(self, study: Study) -> str:
        return design_label(study.design)

    @admin.display(description="indexed", ordering="n_passages")
    def indexed(self, study: Any) -> str:
        failed = f", {study.n_failed} failed" if study.n_failed else ""
        return f"{study.n_indexed} of {study.n_passages}{failed}"

    @admin.display(description="who, labels", ordering="assignee__username")
    def work(self, study: Study) -> str | None:
        """Return the curator who works on it and its labels; None where it has neither."""
        assignee = [study.assignee.get_username()] if study.assignee else []
        return ", ".join([*assignee, *study.labels]) or None

    def view_on_site(self, obj: Study) -> str | None:
        return obj.get_absolute_url() if obj.status in READABLE else None

    def events_of(self, obj: Study) -> QuerySet[CorpusEvent]:
        return history.of_study(obj)

    # --- Saving

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **options: Any) -> Any:
        correct_posted_texts(request, _stored_texts(request))
        proposed_words.prepare(request)
        return super().changeform_view(request, object_id, *args, **options)

    def curate(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        by = curator(request)
        if change:
            values = {name: form.cleaned_data[name] for name in form.changed_data if name in curation.EDITABLE}
            curation.revise_study(form.instance.study_id, by=by, **values)
        else:
            values = {name: value for name, value in form.cleaned_data.items() if name in curation.EDITABLE}
            created = curation.create_study(form.cleaned_data["study_id"], by=by, **values)
            form.instance.pk = created.pk
            form.instance._state.adding = False
        for formset in formsets:
            if formset.model is Passage:
                _save_passages(request, form.instance, formset)
            else:
                save_entries(request, formset)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        may = {
            "may_set_notice": self.has_notice_permission(request),
            "may_import": request.user.has_perm("corpus_app.add_importjob"),
            "may_merge": merging.may_merge(request),
            "may_embed": self.has_embed_permission(request),
            "present_filter": queue.remember_filter(request),
            "saved_filters": list(saved_filters.visible_to(request)),
        }
        page: HttpResponse = super().changelist_view(request, extra_context={**(extra_context or {}), **may})
        return page

    def delete_model(self, request: HttpRequest, obj: Study) -> None:
        curation.delete_study(obj.study_id, by=curator(request))

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """List the studies with a count of their passages, without derived rows, and the protected ones."""
        studies = list(objs)
        published = [study for study in studies if study.status == Status.PUBLISHED]
        protected = [f"{study} (published: withdraw it first)" for study in published]
        protected += [
            f"{study} ({found.headline}: withdraw it instead, so that they keep their place)"
            for study in studies
            for found in hooks.impacts([study.study_id])
            if found.keeps
        ]
        counts = {"studies": len(studies), "passages": Passage.objects.filter(study__in=studies).count()}
        return [str(study) for study in studies], counts, set(), protected

    # --- Publish, withdraw, notice

    def get_urls(self) -> list[Any]:
        address = path(
            "state/<slug:verb>/", self.admin_site.admin_view(self.change_state), name="corpus_app_study_state"
        )
        talk = path(
            "<path:object_id>/comments/", self.admin_site.admin_view(self.comments), name="corpus_app_study_comments"
        )
        lists = path(
            "retractions/", self.admin_site.admin_view(self.retraction_list), name="corpus_app_study_retractions"
        )
        out = path("export/", self.admin_site.admin_view(self.export), name="corpus_app_study_export")
        twins = path("duplicates/", self.admin_site.admin_view(self.duplicates), name="corpus_app_study_duplicates")
        one = path("merge/", self.admin_site.admin_view(self.merge), name="corpus_app_study_merge")
        text = path(
            "<path:object_id>/quality/", self.admin_site.admin_view(self.quality), name="corpus_app_study_quality"
        )
        vectors = path("encoder/", self.admin_site.admin_view(self.encoder), name="corpus_app_encoder")
        given = path(
            "<path:object_id>/assign/", self.admin_site.admin_view(self.assign), name="corpus_app_study_assign"
        )
        after = path("<path:object_id>/next/", self.admin_site.admin_view(self.next), name="corpus_app_study_next")
        return [address, talk, lists, out, twins, one, text, vectors, given, after, *super().get_urls()]

    def assign(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return queue.assign(self, request, object_id)

    def next(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return self._catch_unanswerable_query(request, lambda: queue.next_study(self, request, object_id))

    def export(self, request: HttpRequest) -> HttpResponseBase:
        return exports.export(self, request)

    def duplicates(self, request: HttpRequest) -> HttpResponse:
        return merging.duplicates(self, request)

    def merge(self, request: HttpRequest) -> HttpResponse:
        return merging.merge(self, request)

    def quality(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return text_quality.apply_verb(self, request, object_id)

    def encoder(self, request: HttpRequest) -> HttpResponse:
        return encoder.encoder(self, request)

    def retraction_list(self, request: HttpRequest) -> HttpResponse:
        return retractions.retraction_list(self, request)

    def comments(self, request: HttpRequest, object_id: str) -> HttpResponse:
        return comments.comments(self, request, object_id)

    def change_state(self, request: HttpRequest, verb: str) -> HttpResponse:
        return state.change_state(self, request, verb)

    def has_publish_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(state.PUBLISH.permission)

    def has_embed_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(encoder.PERMISSION)

    @admin.action(description="Embed again", permissions=["embed"])
    def embed_studies_again(self, request: HttpRequest, queryset: QuerySet[Study]) -> None:
        studies = list(queryset.values_list("study_id", flat=True))
        asked = curation.embed_again(studies=studies, by=curator(request))
        self.message_user(request, f"{asked} passages will be embedded again.", messages.SUCCESS)

    def has_notice_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(state.NOTICE.permission)

    @admin.action(description="Edit together", permissions=["change"])
    def edit_together(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse:
        return bulk.start(request, queryset)

    @admin.action(description="Hand over for review", permissions=["change"])
    def submit_studies(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse:
        return state.ask(self, request, state.SUBMIT, queryset)

    @admin.action(description="Send back to draft", permissions=["publish"])
    def send_studies_back(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse:
        return state.ask(self, request, state.SEND_BACK, queryset)

    @admin.action(description="Publish", permissions=["publish"])
    def publish_studies(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse:
        return state.ask(self, request, state.PUBLISH, queryset)

    @admin.action(description="Withdraw", permissions=["publish"])
    def withdraw_studies(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse:
        return state.ask(self, request, state.WITHDRAW, queryset)

    @admin.action(description="Set notice", permissions=["notice"])
    def set_notice_of_studies(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse:
        return state.ask(self, request, state.NOTICE, queryset)

    @admin.action(description="Export", permissions=["view"])
    def export_studies(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse:
        return exports.ask(self, request, list(queryset.values_list("pk", flat=True)))

    @admin.action(description="Merge two into one", permissions=["publish"])
    def merge_studies(self, request: HttpRequest, queryset: QuerySet[Study]) -> HttpResponse | None:
        chosen = list(queryset.order_by("study_id").values_list("study_id", flat=True)[:3])
        if len(chosen) != 2:
            self.message_user(request, _("Choose two studies to merge."), messages.ERROR)
            return None
        keep, other = order_by_loss(*chosen)
        query = urlencode({"keep": keep, "other": other})
        return HttpResponseRedirect(f"{reverse('admin:corpus_app_study_merge')}?{query}")

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        proposed_words.mark_forms(request, context)
        context["may_publish"] = self.has_publish_permission(request)
        context["may_set_notice"] = self.has_notice_permission(request)
        context["may_submit"] = bool(context.get("original")) and self.has_change_permission(request)
        if original := context.get("original"):
            context["n_comments"] = original.comments.count()
            context["impacts"] = hooks.impacts([original.study_id])
            context["quality_unwritten"] = list(standing.find_unwritten(original))
            passages = _passages_shown(context, original)
            context |= text_quality.context(request, passages, back="study")
            found = context["quality_shown"]
            context["blocking_passages"] = {row.passage for row in found if row.checked.is_open}
            context["obstacles"] = list(standing.find_obstacles(original, passages, found, curator(request)))
            context["parts"] = list(standing.parts_of_page(passages))
            context["list_address"] = queue.list_address(request)
            assignee = original.assignee.get_username() if original.assignee else ""
            context["assignee_form"] = queue.AssigneeForm(initial={"assignee": assignee})
        return super().render_change_form(request, context, *args, **options)


def _passages_shown(context: dict[str, Any], study: Study) -> list[Passage]:
    """Return the passages that the page's inline has loaded, else those in the database."""
    for inline in context.get("inline_admin_formsets", ()):
        if inline.formset.model is Passage:
            return [form.instance for form in inline.formset.initial_forms]
    return list(study.passages.select_related("check_of_text"))


def _stored_texts(request: HttpRequest) -> dict[str, str]:
    """Return the stored texts of the posted passages by form field; empty for new passages."""
    posted = {name: request.POST.get(name.replace("-text", "-id"), "") for name in request.POST if _TEXT.match(name)}
    keys = [key for key in posted.values() if key.isdecimal() and len(key) < 19]
    stored = {str(pk): text for pk, text in Passage.objects.filter(pk__in=keys).values_list("pk", "text")}
    return {name: stored.get(key, "") for name, key in posted.items()}


def _save_passages(request: HttpRequest, study: Study, formset: Any) -> None:
    by = curator(request)
    formset.save(commit=False)
    for passage in formset.deleted_objects:
        curation.remove_passage(passage.pk, by=by)
    for passage, fields in formset.changed_objects:
        values = {name: getattr(passage, name) for name in PASSAGE_FIELDS if name in fields}
        if values:
            curation.revise_passage(passage.pk, by=by, **values)
    for passage in formset.new_objects:
        values = {name: getattr(passage, name) for name in PASSAGE_FIELDS}
        added = curation.add_passage(study.study_id, by=by, **values)
        passage.pk, passage.position = added.pk, added.position
    curation.arrange_passages(study.study_id, _wanted_order(formset), by=by)


def _wanted_order(formset: Any) -> list[int]:
    """Return passage ids by the numbers entered.

    A passage moved to another's number comes before it; one without a number comes last.
    """
    forms = [form for form in formset.forms if form.instance.pk and form not in formset.deleted_forms]

    def place(form: Any) -> tuple[float, bool]:
        order = form.cleaned_data.get("order")
        return (order or float("inf"), "order" not in form.changed_data)

    return [form.instance.pk for form in sorted(forms, key=place)]
