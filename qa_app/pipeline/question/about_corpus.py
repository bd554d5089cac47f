"""Recognise questions about the corpus itself ("which studies on X do you have?") and answer them from its rows.

A question is about the corpus if it has a word for the corpus and a wish (count, list, newest, ...), asks for no
finding, and each of its words is recognised. One with a word for the corpus that cannot be parsed is refused with
examples.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime

from corpus_app.facets import Facet
from corpus_app.records import Collection, Concept, Study, StudyTotal, StudyTrait
from qa_app.pipeline.lexicon import PhraseIndex, language_table, placed_words, words_of
from qa_app.pipeline.query import NamedSources
from qa_app.pipeline.question import about_sentences as write
from qa_app.pipeline.question.about_filters import Filters, Found, Names, read_filters
from qa_app.pipeline.question.facets import FacetIndex, spell_signs
from qa_app.pipeline.question.holdings import Holdings
from qa_app.pipeline.question.sources import SourceIndex, find_sources
from qa_app.pipeline.records import Overview, Sentence
from qa_app.pipeline.text import EMPTY_WORDS

LISTED = 12  # studies that an answer names; the corpus page has them all
MOST_UNREAD_OF_FACT = 3  # unrecognised words that a question about the site may have
FACTS = ("export", "update", "who", "criteria", "method")
WISHES = (
    "share",
    "notice",
    "peer",
    "timeline",
    "newest",
    "oldest",
    "journal",
    "author",
    "count",
    "overview",
    "list_all",
    "list",
)
"""In order of precedence."""
NARROWING_WISHES = {"notice": ("notice.",), "peer": ("design.preprint", "design.thesis")}
"""Prefixes of filter lists that are wishes, too, by wish."""
BARE_WISHES = frozenset({"timeline", "newest", "oldest", "count", "list_all", "notice"})
"""Wishes that are about the corpus even without a word for it, if every word is recognised."""
PAYLOAD_WISH = {
    "list_all": "list",
    "notice": "list",
    "timeline": "growth",
    "newest": "newest",
    "oldest": "oldest",
    "list": "list",
    "count": "count",
    "share": "count",
    "peer": "count",
}
"""Value of `Overview.wish` by wish; "corpus" for every other wish."""
EXAMPLES = (
    "How many {many} do you have?",
    "Which {many} do you have from the last 5 years?",
    "What is the newest {one} here?",
    "What topics do you cover?",
)
STUDIES = ("study", "studies")


def holder_words() -> Sequence[str]:
    """Return the words for a corpus."""
    return tuple(language_table("about_corpus")["lists"]["holder"]["phrases"])


@dataclass(frozen=True, slots=True)
class CorpusWords:
    """The words for what a corpus holds."""

    nouns: tuple[str, str]
    """For one of its sources and for several."""
    phrases: PhraseIndex

    @classmethod
    def build(cls, nouns: tuple[str, str] | None = None, taken: Container[str] = (), owner: str = "") -> CorpusWords:
        """Compile the word lists for a site's nouns; None where it holds studies.

        `taken` are the words for a corpus that name what the sources are about: they mean no corpus on this site.
        Questions about the owner are left to the sources where these name one.
        """
        table = language_table("about_corpus")
        holders = [word for word in holder_words() if word not in taken]
        lists = {**table["lists"], "holder": {"phrases": holders}, **({"addressed": {"phrases": []}} if owner else {})}
        own = {"lists": {"item": {"phrases": [" ".join(words_of(noun)[1:-1]) for noun in nouns or ()]}}}
        return cls(
            nouns or STUDIES, PhraseIndex.compile([{"lists": lists}, own if nouns else language_table("studies")])
        )

    @property
    def examples(self) -> tuple[str, ...]:
        """Return questions about the corpus that the grammar can parse."""
        one, many = self.nouns
        return tuple(example.format(one=one, many=many) for example in EXAMPLES)


@dataclass(frozen=True, slots=True)
class CorpusAnswer:
    """Counts and lists of the corpus's rows."""

    overview: Overview
    sentences: tuple[Sentence, ...]
    """Counts; one that names a study cites its place in `studies`, from 1."""
    studies: tuple[Study, ...]
    """The studies named, in order."""
    lines: tuple[Sentence, ...]
    """A sentence for each of them."""


@dataclass(frozen=True, slots=True)
class CorpusQuestionUnread:
    """A question about the corpus that the grammar cannot parse."""

    examples: tuple[str, ...]
    words: tuple[str, ...]
    """The words that were not recognised."""


@dataclass(frozen=True, slots=True)
class _Ask:
    """The recognised parts of one question."""

    wish: str | None
    fact: str | None
    filters: Filters
    unread: tuple[str, ...]
    found: Found

    def has(self, *names: str) -> bool:
        return any(self.found.get(name) for name in names)

    @property
    def names_holdings(self) -> bool:
        """Tell whether the question refers to the contents of the corpus."""
        return self.has("place", "possession", "yours")

    @property
    def names_studies(self) -> bool:
        return self.has("item", "trials", "reviews") or "design" in self.filters.values


def read(
    question: str,
    *,
    holdings: Holdings,
    journals: Names,
    concepts: Sequence[Concept],
    collections: Sequence[Collection],
    facets: FacetIndex,
    changed_at: datetime | None,
    today: date,
    corpus_words: CorpusWords,
    sources: SourceIndex,
) -> CorpusAnswer | CorpusQuestionUnread | None:
    """Answer a question about the corpus, or report that it cannot be parsed; None for any other question.

    `sources` indexes the studies that the question may name.
    """
    if not may_be_about_corpus(question, corpus_words):
        return None
    named = find_sources(question, sources, prefer_first_author=False)
    rest = spell_signs(named.rest)
    placed = placed_words(rest)
    words = [word.text for word in placed]
    found = corpus_words.phrases.find(words)
    filters, read_places = read_filters(
        placed, found, facets.find(rest), journals=journals, concepts=concepts, collections=collections, today=today
    )
    ask = _ask(words, found, _with_sources(filters, named), read_places)
    if _asks_for_findings(ask, words):
        return None
    if ask.fact is not None:
        return _answer_fact(ask.fact, holdings.without_retracted(), changed_at)
    if _is_readable(ask, named):
        return _answer(ask, holdings, collections, facets.facets)
    if _is_about_holdings(ask):
        return CorpusQuestionUnread(corpus_words.examples, ask.unread)
    return None


# --- Reading ----------------------------------------------------------------------------------------------------------


def may_be_about_corpus(question: str, corpus_words: CorpusWords) -> bool:
    """Tell whether a question has a word for the corpus, so that it is worth reading what the corpus holds."""
    found = corpus_words.phrases.find(words_of(question))
    subjects = ("item", "trials", "reviews", "place", "possession", "yours", "here", "summaries")
    is_design = any(name.startswith(("design.", "notice.", "wish.peer", "wish.notice")) for name in found)
    return any(found.get(name) for name in subjects) or is_design or any(_is_fact(name, found) for name in FACTS)


def _is_fact(name: str, found: Found) -> bool:
    return bool(found.get(f"{name}.asks") and found.get(f"{name}.of"))


def _ask(words: Sequence[str], found: Found, filters: Filters, read_places: frozenset[int]) -> _Ask:
    ends = frozenset(n for n, word in enumerate(words) if not word[0].isalnum())
    known = {n for name, spans in found.items() if name != "finding" for start, end in spans for n in range(start, end)}
    known |= {n for n, word in enumerate(words) if word in EMPTY_WORDS}
    unread = tuple(word for n, word in enumerate(words) if n not in known | ends | read_places)
    wish = next((wish for wish in WISHES if _is_wished(wish, found)), None)
    facts = [name for name in FACTS if _is_fact(name, found) and (name != "method" or wish in {None, "list"})]
    is_fact = bool(facts) and len(unread) <= MOST_UNREAD_OF_FACT and not filters.topics
    return _Ask(wish, facts[0] if is_fact else None, filters, unread, found)


def _is_wished(wish: str, found: Found) -> bool:
    return any(name == f"wish.{wish}" or name.startswith(NARROWING_WISHES.get(wish, ())) for name in found)


def _with_sources(filters: Filters, named: NamedSources) -> Filters:
    """Add the sources; where the corpus has none of them, drop all other filters."""
    if not named.is_named:
        return filters
    base = filters if named.studies else Filters()
    return replace(base, sources=named.studies, source_names=(*named.names, *named.unknown))


def _asks_for_findings(ask: _Ask, words: Sequence[str]) -> bool:
    """Tell whether the question asks for findings, or is about one study."""
    prefixes = ("wish.", "possession", *((f"{ask.fact}.",) if ask.fact else ()))
    covers = [span for name, spans in ask.found.items() if name.startswith(prefixes) for span in spans]
    findings = [
        (start, end)
        for start, end in ask.found.get("finding", ())
        if not any(
            a <= start and end <= b and (b - a > end - start or not words[a - 1].isalnum() or ask.fact)
            for a, b in covers
        )
    ]
    return bool(findings) or (ask.has("single_study") and not ask.has("possession", "place"))


def _is_readable(ask: _Ask, named: NamedSources) -> bool:
    """Tell whether the question has all that an answer needs."""
    if (ask.names_holdings or ask.has("here")) and named.is_named and (ask.names_studies or not ask.unread):
        return True
    if ask.unread or (ask.wish is None and not ask.has("possession", "yours", "here", "exists")):
        return False
    if ask.wish == "count" and ask.filters.topics and not ask.has("on", "evidence") and not ask.names_studies:
        return False  # "how many boats do you have": nothing that is kept here is counted
    if ask.names_holdings or ask.has("here"):
        return ask.names_studies or ask.has("evidence") or ask.wish not in {None, "list"}
    has_object = ask.names_studies or (ask.wish == "timeline" and ask.has("evidence"))
    has_object = has_object or (ask.wish == "notice" and ask.has("exists", "evidence") and not ask.filters.topics)
    if ask.has("exists"):
        return has_object or (ask.wish == "count" and ask.has("evidence"))
    return has_object and ask.wish in BARE_WISHES


def _is_about_holdings(ask: _Ask) -> bool:
    """Tell whether the question asks for contents of the corpus, though in words that were not recognised."""
    return ask.names_studies and (ask.names_holdings or (ask.has("here") and ask.wish is not None))


# --- Answering --------------------------------------------------------------------------------------------------------


def _answer_fact(fact: str, published: Holdings, changed_at: datetime | None) -> CorpusAnswer:
    total, years = published.count(), _years(published)
    sentences = [*write.write_fact(fact, total, years, changed_at)]
    if fact == "criteria":
        sentences += [write.write_count(total, ""), *_kinds(published, total)]
    return CorpusAnswer(_overview("corpus", published, total.total, Filters()), tuple(sentences), (), ())


def _answer(
    ask: _Ask, holdings: Holdings, collections: Sequence[Collection], facets: Mapping[str, Facet]
) -> CorpusAnswer:
    wish, filters, published = ask.wish or "list", ask.filters, holdings.without_retracted()
    if wish == "overview" and filters.parameters:
        wish = "list"
    if wish == "notice":
        marked = filters.values.get("notice", tuple(write.NOTICES))
        filters = replace(filters, values={**filters.values, "notice": marked})
    if wish == "peer":
        filters = Filters()
    selected = (holdings if "notice" in filters.values else published).where(filters)
    total = selected.count()
    named = [] if wish in {"share", "peer", "journal", "author"} else selected.listed(LISTED, oldest=wish == "oldest")
    names = {collection.slug: collection.name for collection in collections}
    if wish == "notice":
        rest = {key: own for key, own in filters.values.items() if key != "notice"}
        described = write.describe(replace(filters, values=rest), names, facets)
        whole = holdings.where(replace(filters, values=rest)).count()
        sentences = [
            write.write_notice(
                whole, notice, holdings.where(replace(filters, values=rest | {"notice": (notice,)})).count(), described
            )
            for notice in filters.values["notice"]
        ]
    elif wish == "peer":
        designs = published.tally(StudyTrait.DESIGN)
        sentences = [*write.write_peer_review(published.count(), published.reviewed().count(), designs)]
    elif wish == "share":
        sentences = _shares(filters, published, names, facets)
    else:
        described = write.describe(filters, names, facets)
        sentences = [*write.write_extreme(wish, named), write.write_count(total, described)]
    if not total.total and wish != "notice":
        sentences += [
            write.write_count(published.where(part).count(), write.describe(part, names, facets))
            for part in filters.apart()
        ]
    if wish in {"journal", "author"}:
        sentences += write.write_names(wish, total, selected.tally(StudyTrait(wish), write.MOST_NAMES))
    elif wish == "timeline":
        sentences += write.write_growth(total, _years(selected))
    elif wish in {"count", "list", "list_all", "overview"}:
        designs_asked = filters.values.get("design", ())
        sentences += [*write.write_span(total, _years(selected)), *_kinds(selected, total, designs_asked)]
    if wish == "overview":
        topics = selected.tally(StudyTrait.TOPIC, write.MOST_NAMES)
        sentences += write.write_overview(total, selected.tally(StudyTrait.COLLECTION), topics, names)
    lines = tuple(write.write_line(number, study) for number, study in enumerate(named, start=1))
    overview = _overview(wish, selected, total.total, filters)
    return CorpusAnswer(overview, tuple(sentences), tuple(named), lines)


def _shares(
    filters: Filters, published: Holdings, names: Mapping[str, str], facets: Mapping[str, Facet]
) -> list[Sentence]:
    """Relate the designs to the same studies of any design, else the facets to those of any value, else all to all."""
    asked = ("design",) if "design" in filters.values else filters.facets
    rest = {facet: values for facet, values in filters.values.items() if facet not in asked}
    base = replace(filters, values=rest) if asked else Filters()
    whole = published.where(base)
    total = whole.count()
    if not filters.parameters:
        return [write.write_count(total, ""), *_kinds(whole, total)]
    part = Filters({facet: filters.values[facet] for facet in asked}) if asked else filters
    parts = [Filters({asked[0]: (value,)}) for value in filters.values[asked[0]]] if len(asked) == 1 else [part]
    of = write.describe(base, names, facets)
    described = [(p, write.describe(p, names, facets)) for p in parts]
    return [write.write_share(whole.where(p).count(), words, total, of) for p, words in described]


def _kinds(holdings: Holdings, total: StudyTotal, designs: Sequence[str] = ()) -> Iterator[Sentence]:
    return write.write_kinds(total, holdings.tally(StudyTrait.DESIGN), holdings.kind_of, designs)


def _years(holdings: Holdings) -> dict[int, int]:
    return {int(year): number for year, number in holdings.tally(StudyTrait.YEAR).most}


def _overview(wish: str, selected: Holdings, total: int, filters: Filters) -> Overview:
    return Overview(
        wish=PAYLOAD_WISH.get(wish, "corpus"),
        total=total,
        filters=filters.parameters,
        years=tuple(sorted(_years(selected).items())),
        designs=tuple(sorted(selected.tally(StudyTrait.DESIGN).most, key=lambda pair: (-pair[1], pair[0]))),
    )
