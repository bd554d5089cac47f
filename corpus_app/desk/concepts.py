"""Admin pages of concepts, their aliases and relations, and of collections."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.translation import gettext_lazy as _

from corpus_app import search
from corpus_app.desk import graph
from corpus_app.desk.base import (
    CleanTextForm,
    EmptyLabelFilter,
    LabelledFormSet,
    LabelledTabularInline,
    LinesField,
    SeenForm,
    WordsFilter,
)
from corpus_app.desk.history import HistoryMixin
from corpus_app.models import (
    Collection,
    Concept,
    ConceptAlias,
    ConceptCollection,
    ConceptRelation,
    ConceptRelationStudy,
)
from corpus_app.records import Wanted
from corpus_app.templatetags.corpus_words import CONCEPT_KINDS, plain


def kind_label(kind: str) -> str:
    return plain(kind).capitalize()


class AliasFormSet(LabelledFormSet):
    def clean(self) -> None:
        """Add an error to an alias that occurs twice in the form set; a form only sees stored aliases."""
        super().clean()
        seen: set[str] = set()
        for form in self.forms:
            name = form.cleaned_data.get("name", "") if hasattr(form, "cleaned_data") else ""
            if not name or form in self.deleted_forms:
                continue
            if name.lower() in seen:
                form.add_error("name", "This alias stands here twice; upper and lower case make no difference.")
            seen.add(name.lower())


class AliasInline(LabelledTabularInline):
    model = ConceptAlias
    form = CleanTextForm
    formset = AliasFormSet
    fields = ("name",)
    extra = 1
    verbose_name = "alias"
    verbose_name_plural = "aliases: other words that readers use for it"


class ConceptCollectionInline(LabelledTabularInline):
    model = ConceptCollection
    fields = ("collection",)
    extra = 0
    verbose_name = "collection"
    verbose_name_plural = "collections"


class RelationForm(CleanTextForm):
    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        source, target = cleaned.get("source"), cleaned.get("target")
        if source and target and source.pk == target.pk:
            self.add_error("target", "A concept cannot be related to itself.")
        return cleaned


class RelationInline(LabelledTabularInline):
    model = ConceptRelation
    form = RelationForm
    fk_name = "source"
    fields = ("relation", "target")
    autocomplete_fields = ("target",)
    extra = 0
    show_change_link = True
    verbose_name = "relation"
    verbose_name_plural = _("relations to other concepts (the studies behind one are on its own page)")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ConceptRelation]:
        return super().get_queryset(request).select_related("target")


class ConceptForm(SeenForm):
    kind = forms.ChoiceField()
    wanted = forms.ChoiceField(
        label="More of it is",
        choices=[(Wanted.NEITHER, "Neither"), (Wanted.MORE, "A benefit"), (Wanted.LESS, "A harm")],
        initial=Wanted.NEITHER,
        help_text=_(
            "Of an outcome, such as strength (a benefit) or body fat (a harm). "
            "Says where studies stand that found a rise or a fall."
        ),
    )
    seen_fields = ("name", "kind", "definition", "wanted")
    seen_inlines = {
        "aliases": ("name",),
        "conceptcollection_set": ("collection",),
        "relations_out": ("relation", "target"),
    }

    def __init__(self, *args: Any, **options: Any) -> None:
        """Offer the known kinds and the row's own, which an import may have set to any text."""
        super().__init__(*args, **options)
        field: Any = self.fields.get("kind")
        if field is None:
            return
        site = search.site()
        usual = (kind for kind in CONCEPT_KINDS if kind != "population" or site.is_about_people)
        kinds = {kind: kind_label(kind) for kind in (*usual, *site.concept_kinds)}
        if current := self.instance.kind:
            kinds.setdefault(current, kind_label(current))
        field.choices = [("", "Choose a kind"), *sorted(kinds.items(), key=lambda kind: kind[1])]


class KindFilter(WordsFilter):
    words = staticmethod(kind_label)


class CollectionFilter(EmptyLabelFilter):
    empty_label = "In no collection"


@admin.register(Concept)
class ConceptAdmin(HistoryMixin):
    form = ConceptForm
    list_display = ("name", "concept_id", "sort", "n_aliases", "n_studies")
    list_filter = (("kind", KindFilter), ("collections", CollectionFilter))
    search_fields = ("name", "concept_id", "aliases__name")
    search_help_text = "A concept's name or one of its aliases."
    ordering = ("name",)
    fields = ("concept_id", "name", "kind", "definition", "wanted", "seen")
    change_list_template = "admin/corpus_app/concept/change_list.html"
    change_form_template = "admin/corpus_app/concept/change_form.html"
    inlines = (AliasInline, ConceptCollectionInline, RelationInline)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        counts = {
            "counted_aliases": Count("aliases", distinct=True),
            "counted_studies": Count("studyconcept", distinct=True),
        }
        counted: QuerySet[Any] = super().get_queryset(request).annotate(**counts)
        return counted

    def get_urls(self) -> list[Any]:
        words = path("terms/", self.admin_site.admin_view(self.unmapped_terms), name="corpus_app_concept_terms")
        return [words, *super().get_urls()]

    @admin.display(description="kind", ordering="kind")
    def sort(self, concept: Concept) -> str:
        return kind_label(concept.kind)

    def unmapped_terms(self, request: HttpRequest) -> HttpResponse:
        return graph.unmapped_terms(self, request)

    def render_change_form(self, request: HttpRequest, context: dict[str, Any], *args: Any, **options: Any) -> Any:
        if concept := context.get("original"):
            context["picture"] = graph.picture(concept)
        return super().render_change_form(request, context, *args, **options)

    @admin.display(description="aliases", ordering="counted_aliases")
    def n_aliases(self, concept: Any) -> int:
        return int(concept.counted_aliases)

    @admin.display(description=_("studies"), ordering="counted_studies")
    def n_studies(self, concept: Any) -> int:
        return int(concept.counted_studies)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("concept_id",) if obj else ()


class RelationStudyInline(LabelledTabularInline):
    model = ConceptRelationStudy
    fields = ("study",)
    autocomplete_fields = ("study",)
    extra = 0
    verbose_name = "study"
    verbose_name_plural = _("studies behind this relation")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ConceptRelationStudy]:
        return super().get_queryset(request).select_related("study")


class OwnRelationForm(RelationForm, SeenForm):
    seen_fields = ("source_id", "relation", "target_id")
    seen_inlines = {"conceptrelationstudy_set": ("study",)}


@admin.register(ConceptRelation)
class ConceptRelationAdmin(HistoryMixin):
    form = OwnRelationForm
    list_display = ("source", "relation", "target", "n_studies")
    list_filter = ("relation",)
    list_select_related = ("source", "target")
    search_fields = ("source__name", "target__name")
    ordering = ("source__name", "relation", "target__name")
    fields = ("source", "relation", "target", "seen")
    autocomplete_fields = ("source", "target")
    inlines = (RelationStudyInline,)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        counted: QuerySet[Any] = super().get_queryset(request).annotate(counted_studies=Count("conceptrelationstudy"))
        return counted

    @admin.display(description=_("studies"), ordering="counted_studies")
    def n_studies(self, relation: Any) -> int:
        return int(relation.counted_studies)


class CollectionForm(SeenForm):
    seen_fields = ("name", "description", "keywords")
    keywords = LinesField(
        rows=8, help_text="One on each line: words by which a question is known to belong to this collection."
    )

    class Meta:
        model = Collection
        fields = ("slug", "name", "description", "keywords")
        widgets = {"description": forms.Textarea(attrs={"rows": 3, "cols": 90})}


@admin.register(Collection)
class CollectionAdmin(HistoryMixin):
    form = CollectionForm
    list_display = ("name", "slug", "n_studies")
    search_fields = ("name", "slug")
    ordering = ("position", "slug")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        counted: QuerySet[Any] = super().get_queryset(request).annotate(counted_studies=Count("studies"))
        return counted

    @admin.display(description=_("studies"), ordering="counted_studies")
    def n_studies(self, collection: Any) -> int:
        return int(collection.counted_studies)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        return ("slug",) if obj else ()
