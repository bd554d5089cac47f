"""Find the studies of the corpus that a question names by author, year, DOI, PMID, title or organisation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from rapidfuzz import fuzz

from common.dois import DOI, find_doi, trimmed
from corpus_app.records import TITLE_RUN, NameCues, Reference
from qa_app.pipeline.lexicon import Span
from qa_app.pipeline.query import NamedSources
from qa_app.pipeline.question.authors import (
    ACRONYM,
    INITIALS,
    WORDS,
    YEAR,
    AuthorIndex,
    QuestionToken,
    can_be_author,
    index_authors,
    is_cue,
    is_in_titles,
    known_mentions,
    merge_mentions,
    normal_words,
    studies_of,
    tokenise,
    unknown_mentions,
    write_mention,
)

T = TypeVar("T")

TITLE_WORDS = TITLE_RUN
TITLE_SHARE = 0.6  # of the title's part before its colon: shorter runs are phrases of the field
TITLE_RATIO = 88  # rapidfuzz ratio of quoted text to a title, 0 to 100
CUE_GAP = 3  # words between an organisation and what it issued

_DOI = re.compile(rf"(?:https?://(?:dx\.)?doi\.org/|doi:?\s*)?({DOI.pattern})", re.IGNORECASE)
_PMID = re.compile(r"\bPMID:?\s*(\d{4,9})\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”]([^\"“”]{12,})[\"“”]")
_BEFORE_CUT = re.compile(r"(?:\b(?:by|from|of|according to|in)\s+)?(?:the\s+)?[(\[]?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SourceIndex:
    """An index of the names of sources that a question may name."""

    studies: tuple[Reference, ...]
    authors: AuthorIndex
    titles: tuple[tuple[str, str, tuple[str, ...]], ...]
    """Of each study its id, its title in normal words, and the words before the title's colon."""

    @classmethod
    def build(cls, studies: Sequence[Reference]) -> SourceIndex:
        """Index authors and titles."""
        titles = tuple(
            (s.study_id, " ".join(normal_words(s.title)), tuple(normal_words(s.title.partition(":")[0])))
            for s in studies
        )
        return cls(tuple(studies), index_authors(studies), titles)


def read_cues(text: str) -> NameCues:
    """Return what a question may name sources by, to look up the studies that `find_sources` then compares with it."""
    tokens = tokenise(text, ())
    norms = [token.norm for token in tokens]
    names = [token for token in tokens if ACRONYM.fullmatch(token.text) or token.is_capital]
    quoted = [tuple(normal_words(match[1])) for match in _QUOTED.finditer(text)]
    return NameCues(
        dois=_once(doi for match in _DOI.finditer(text) if (doi := find_doi(trimmed(match[1])))),
        pmids=_once(match[1] for match in _PMID.finditer(text)),
        authors=_once(token.norm for place, token in enumerate(tokens) if can_be_author(tokens, place)),
        years=_once(int(norm) for norm in norms if YEAR.fullmatch(norm)),
        title_words=_once(token.norm for token in names),
        runs=_once(" ".join(norms[n : n + TITLE_WORDS]) for n in range(len(norms) - TITLE_WORDS + 1)),
        phrases=_once((*quoted, *(tuple(norms[start:end]) for start, end in _capital_runs(tokens)))),
        acronyms=_once(token.text for place, token in enumerate(tokens) if _is_issuing(tokens, place)),
        bodies=tuple(sorted(WORDS["body"])),
    )


def find_sources(
    text: str, studies: Sequence[Reference] | SourceIndex, *, prefer_first_author: bool = True
) -> NamedSources:
    """Find the sources a question names; a name counts only next to a cue such as a year, "et al." or "the paper by".

    With `prefer_first_author`, a name selects the studies of which it is the first author, if there are any.
    """
    known = studies if isinstance(studies, SourceIndex) else SourceIndex.build(studies)
    index = known.authors
    named = [*_identifiers(text, known.studies), *_titles(text, known)]
    tokens = tokenise(text, [span for span, _, _ in named])
    for mention in merge_mentions([*known_mentions(tokens, index), *unknown_mentions(tokens, index)], tokens):
        written, span = write_mention(mention, tokens, text)
        named.append((span, written, studies_of(mention, index, prefer_first=prefer_first_author)))
    if not any(ids for _, _, ids in named):
        named += _organisations(tokens, known.studies)
    return NamedSources(
        studies=_once(study_id for _, _, ids in named for study_id in ids),
        unknown=_once(written for _, written, ids in named if not ids),
        names=_once(written for _, written, ids in named if ids and written),
        rest=_without(text, [span for span, _, _ in named]),
    )


def _once(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))


# --- Identifiers and titles -------------------------------------------------------------------------------------------


def _identifiers(text: str, studies: Sequence[Reference]) -> Iterator[tuple[Span, str, list[str]]]:
    for match in _DOI.finditer(text):
        written = trimmed(match[1])
        doi = find_doi(written)
        ids = [s.study_id for s in studies if s.doi and s.doi.lower() == doi]
        yield (match.start(), match.start(1) + len(written)), written, ids
    for match in _PMID.finditer(text):
        yield match.span(), match[0], [s.study_id for s in studies if s.pmid == match[1]]


def _titles(text: str, known: SourceIndex) -> Iterator[tuple[Span, str, list[str]]]:
    tokens = tokenise(text, ())
    quotations = [(match.span(), match[0], " ".join(normal_words(match[1]))) for match in _QUOTED.finditer(text)]
    if len(tokens) < TITLE_WORDS and not quotations:
        return
    grams = [" ".join(t.norm for t in tokens[n : n + TITLE_WORDS]) for n in range(len(tokens) - TITLE_WORDS + 1)]
    for study_id, title, main in known.titles:
        for span, written, quoted in quotations:
            if any(fuzz.ratio(quoted, part) >= TITLE_RATIO for part in (title, " ".join(main))):
                yield span, written, [study_id]
        if any(gram in title for gram in grams):
            run = _longest_run(tokens, f" {title} ")
            if run and run[1] - run[0] >= max(TITLE_WORDS, round(TITLE_SHARE * len(main))):
                yield (tokens[run[0]].start, tokens[run[1] - 1].end), "", [study_id]


def _longest_run(tokens: Sequence[QuestionToken], title: str) -> Span | None:
    """Return the longest run of at least TITLE_WORDS words that the title has too."""
    best: Span | None = None
    for start in range(len(tokens) - TITLE_WORDS + 1):
        end = start + TITLE_WORDS
        while end <= len(tokens) and f" {' '.join(t.norm for t in tokens[start:end])} " in title:
            if best is None or end - start > best[1] - best[0]:
                best = (start, end)
            end += 1
    return best


# --- Organisations ----------------------------------------------------------------------------------------------------


def _organisations(
    tokens: Sequence[QuestionToken], studies: Sequence[Reference]
) -> Iterator[tuple[Span, str, list[str]]]:
    """Yield organisations by their initials or full names: authors, or issuers that a title names."""
    for place, token in enumerate(tokens):
        if _is_issuing(tokens, place):
            ids = [s.study_id for s in studies if _names_organisation(s, token.text)]
            is_issuer = any(is_cue(t.norm, "issued") for t in tokens[place + 1 : place + 2])
            if ids or (is_issuer and not is_in_titles(token.norm, studies)):
                yield (token.start, token.end), token.text, ids
    for start, end in _capital_runs(tokens):
        name = " ".join(t.norm for t in tokens[start:end])
        ids = [
            s.study_id
            for s in studies
            if any(" ".join(normal_words(a)) == name for a in s.authors)
            or f" {name} " in f" {' '.join(normal_words(s.title))} "
        ]
        if ids:
            yield (tokens[start].start, tokens[end - 1].end), name, ids


def _is_issuing(tokens: Sequence[QuestionToken], place: int) -> bool:
    """Tell whether a word is an acronym near a word for what organisations issue."""
    near = {token.norm for token in tokens[max(0, place - CUE_GAP) : place + CUE_GAP + 1]}
    return bool(ACRONYM.fullmatch(tokens[place].text)) and any(is_cue(word, "statement") for word in near)


def _names_organisation(study: Reference, acronym: str) -> bool:
    authors = [author for author in study.authors if not INITIALS.search(author)]
    if any(acronym in _initials(name) for name in (study.title, *authors)):
        return True
    words = re.findall(r"\w+", study.title)
    following = [w.casefold() for n, word in enumerate(words) if word == acronym for w in words[n + 1 : n + 3]]
    return any(is_cue(word, "issued") for word in following)


def _initials(name: str) -> str:
    """Return the initials of the capitalised words if one is a kind of organisation, else nothing."""
    words = re.findall(r"\w+", name)
    is_body = any(word.casefold() in WORDS["body"] for word in words)
    return "".join(word[0] for word in words if word[0].isupper()) if is_body else ""


def _capital_runs(tokens: Sequence[QuestionToken]) -> Iterator[Span]:
    """Yield runs of at least three capitalised words, "of", "and" and "for" within them."""
    start = 0
    while start < len(tokens):
        end = start
        while end < len(tokens) and (
            tokens[end].is_capital or (end > start and tokens[end].norm in {"of", "and", "for"})
        ):
            end += 1
        while end > start and not tokens[end - 1].is_capital:
            end -= 1
        if end - start >= 3:
            yield start, end
        start = max(end, start) + 1


def _without(text: str, cuts: Iterable[Span]) -> str:
    for start, end in sorted(set(cuts), reverse=True):
        head = _BEFORE_CUT.sub("", text[:start])
        text = f"{head} {text[end:]}"
    text = re.sub(r"\(\s*\)|\[\s*\]|,(?=\s*[,;.?!])", " ", text)
    return re.sub(r" ([?.!,;:])", r"\1", " ".join(text.split())).strip(" ,;:")
