"""The settings of a site that its corpus folder declares in `site.toml`; what it leaves out has plain defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace

from corpus_app.facets import COLUMNS, Facet
from corpus_app.records import SECTION_OF_ROLE, ConceptRole, Design, Section, SectionRole, SourceKind, Unit


@dataclass(frozen=True, slots=True)
class ConceptKind:
    role: ConceptRole = ConceptRole.THING
    label: str = ""
    """The heading of concepts of this kind, in the language of the file; empty: the name of the kind."""


DEFAULT_ROLES: Mapping[str, ConceptRole] = {
    **{role.value: role for role in ConceptRole},
    "intervention": ConceptRole.THING,
    "mechanism": ConceptRole.OUTCOME,
    "population": ConceptRole.GROUP,
    "method": ConceptRole.NONE,
    "guideline": ConceptRole.NONE,
}
"""Kinds that need no declaration: the roles themselves, and what evidence syntheses call things."""


@dataclass(frozen=True, slots=True)
class Tip:
    """Advice on how to ask: a few words in bold, and a sentence."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Nouns:
    """The English nouns for the studies of a corpus: `page` and `pages`."""

    one: str
    many: str


@dataclass(frozen=True, slots=True)
class SiteTexts:
    """The texts of a site in one language; an empty one is not shown."""

    name: str = ""
    tagline: str = ""
    placeholder: str = ""
    """An example in the empty question box."""
    follow_up: str = ""
    """The label of the box for a second question, with examples."""
    narrower: tuple[str, ...] = ()
    """Advice under a refusal on how to ask more narrowly."""
    tips: tuple[Tip, ...] = ()
    search_tip: str = ""
    """Advice where a search of the corpus finds nothing."""
    about: str = ""
    contact: str = ""
    footer: str = ""
    limits: str = ""
    """What answers cannot tell, for the page that explains the method."""
    personal: str = ""
    """A line above replies that send a reader to a professional."""
    feedback: str = ""
    """What not to write in an opinion on an answer."""
    concept_kinds: Mapping[str, str] = field(default_factory=dict)
    """Labels of kinds of concepts, in a language other than that of the file."""
    source_kinds: Mapping[str, str] = field(default_factory=dict)
    """Labels of kinds of sources, in a language other than that of the file."""
    facet_words: Mapping[str, str] = field(default_factory=dict)
    """Labels and texts of facets and their values in another language, by those of the file."""


DEFAULT_TEXTS = SiteTexts(name="InForm")


@dataclass(frozen=True, slots=True)
class Site:
    """The declared settings: texts by language, example questions, and the site's own kinds of concepts."""

    texts: SiteTexts = DEFAULT_TEXTS
    translations: Mapping[str, SiteTexts] = field(default_factory=dict)
    nouns: Nouns | None = None
    """None: they are called studies."""
    examples: tuple[str, ...] = ()
    """Questions for the front page, in the language of the corpus."""
    concept_kinds: Mapping[str, ConceptKind] = field(default_factory=dict)
    source_kinds: Mapping[str, SourceKind] = field(default_factory=dict)
    section_roles: Mapping[str, SectionRole] = field(default_factory=dict)
    """Roles of the corpus' own sections, by their names as they stand in the sources."""
    routes_off: tuple[str, ...] = ()
    """Kinds of question that get no fixed reply here, though the word lists have one."""
    facets: Mapping[str, Facet] = field(default_factory=dict)
    units: Mapping[str, Unit] = field(default_factory=dict)
    """Units of numbers beside those of English, by name."""
    phrase_lists: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Lists that phrases of facets refer to: {person}."""

    def texts_in(self, language: str) -> SiteTexts:
        """Return the texts in a language (`de`); what is not translated stays as it is."""
        translated = self.translations.get(language)
        if translated is None:
            return self.texts
        found = {f.name: getattr(translated, f.name) for f in fields(SiteTexts)}
        return replace(self.texts, **{name: value for name, value in found.items() if value})

    def role_of(self, kind: str) -> ConceptRole:
        """Return the role of concepts of a kind; one that nobody declared is a thing."""
        declared = self.concept_kinds.get(kind)
        return declared.role if declared else DEFAULT_ROLES.get(kind, ConceptRole.THING)

    def is_design(self, name: str) -> bool:
        """Tell whether a study may be of this design or kind of source."""
        return name in self.source_kinds or name in frozenset(Design)

    @property
    def designs(self) -> tuple[str, ...]:
        """The kinds of source that a study may be of, the corpus' own first."""
        return tuple(dict.fromkeys((*self.source_kinds, *(design.value for design in Design))))

    def facet_words(self, text: str, language: str) -> str:
        """Return a label or text of a facet in a language, as far as the site translates it."""
        return self.texts_in(language.partition("-")[0]).facet_words.get(text, text)

    @property
    def is_about_people(self) -> bool:
        """Tell whether the site declares a facet that tells who was studied."""
        return not self.facets.keys().isdisjoint(COLUMNS)

    def section_of(self, headings: str) -> Section | None:
        """Return the section that one of the headings `Services > Prices` is declared as, the innermost first."""
        if not self.section_roles:
            return None
        roles = {name.casefold(): role for name, role in self.section_roles.items()}
        found = (roles.get(part.strip().casefold()) for part in reversed(headings.split(" > ")))
        role = next(filter(None, found), None)
        return SECTION_OF_ROLE[role] if role else None
