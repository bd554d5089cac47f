"""The public payload of an answer, as documented in docs/contract.md."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from corpus_app.records import Concept, Lean, Leg, Study
from qa_app.pipeline import citations
from qa_app.pipeline.query import Intent, Query
from qa_app.pipeline.question.subject import describe_subject
from qa_app.pipeline.records import (
    Agreement,
    Answered,
    Candidate,
    Citation,
    Confidence,
    Counted,
    Ending,
    EvidenceStrength,
    Generator,
    Headline,
    LeftOut,
    Mode,
    NearQuestion,
    Outcome,
    Overview,
    Refused,
    Scope,
    SearchRun,
    Sentence,
    SentenceKind,
    Span,
)
from qa_app.pipeline.text import highlights, stems

Payload = dict[str, Any]


def build_payload(
    ending: Ending, *, answer_id: str, url: str, request_id: str, parent: str | None, encoder: str, created_at: str
) -> Payload:
    """Return the payload of an ending; `notices` stays empty until it is read against the present corpus."""
    search = ending.search
    return {
        "id": answer_id,
        "url": url,
        "request_id": request_id,
        "question": ending.question.text,
        "understood_as": ending.question.understood_as,
        "mode": ending.question.mode.value,
        "collection": ending.question.collection,
        "filters": _filters(ending),
        "parent": parent,
        "scope": {
            "collection": ending.question.collection or ending.query.collection,
            "searched": ending.scope.value,
            "detail": _scope_in_words(ending),
        },
        "outcome": ending.outcome.value,
        "code": ending.outcome.code,
        **_content(ending),
        "target_sections": [section.value for section in ending.query.sections],
        "also_searched": list(ending.query.also_searched),
        "related_topics": [{"id": c.concept_id, "name": c.name} for c in search.related] if search else [],
        "legs": _legs(search),
        "pool": {
            "found": len(search.found.hits) if search else 0,
            "ranked": ending.ranked if isinstance(ending, Answered) else 0,
        },
        "generator": generator_row(ending.generator),
        "understood": _understood(ending.query, search),
        "corpus_version": ending.corpus_version,
        "site_hash": ending.site_hash or None,
        "policy": ending.policy.label,
        "encoder": encoder,
        "notices": [],
        "timings_ms": dict(ending.timings_ms),
        "created_at": created_at,
    }


def _definitions(concepts: Iterable[Concept], query: Query) -> list[Payload]:
    return [
        {"id": c.concept_id, "name": c.name, "definition": c.definition, "is_asked": c == query.term} for c in concepts
    ]


def _filters(ending: Ending) -> Payload:
    """Return the filters in force; neither a count of the corpus nor a fixed reply is narrowed."""
    is_narrowed = not isinstance(ending, Counted) and not (isinstance(ending, Refused) and ending.declined)
    return ending.question.filters.to_json() if is_narrowed else {}


def _content(ending: Ending) -> Payload:
    """Return the fields that only some endings fill; the others have them empty."""
    content: Payload = {
        "message": None,
        "guardrail": None,
        "headline": None,
        "summary": part(()),
        "answer": part(()),
        "citations": [],
        "confidence": None,
        "evidence_strength": None,
        "missing": [],
        "near_questions": [],
        "evidence": evidence_rows(ending.passages, ending.query),
        "left_out": [],
        "definitions": [],
        "agreement": None,
        "overview": None,
    }
    if isinstance(ending, Counted):
        return content | {
            "summary": part(ending.summary),
            "answer": part(ending.answer),
            "citations": citation_rows(ending.citations),
            "overview": _overview(ending.overview),
        }
    content |= {
        "message": ending.message,
        "missing": list(ending.missing),
        "near_questions": [_near_question(near, ending.question.mode) for near in ending.near_questions],
    }
    if isinstance(ending, Refused):
        route = ending.declined
        return content | {
            "definitions": []
            if route
            else _definitions((ending.query.term,) if ending.query.term else (), ending.query),
            "guardrail": {"route": route.route, "version": route.version} if route else None,
        }
    return content | {
        "headline": headline_row(ending.headline),
        "summary": part(ending.summary),
        "answer": part(ending.answer),
        "citations": citation_rows(ending.citations),
        "confidence": _confidence(ending.confidence),
        "evidence_strength": _strength(ending.strength) if ending.strength else None,
        "left_out": [_left_out(entry) for entry in ending.left_out],
        "definitions": _definitions(ending.definitions, ending.query),
        "agreement": _agreement(ending.evidence.agreement),
    }


STANCES: Mapping[Lean | None, str] = {
    Lean.YES: "favours",
    Lean.NO_CLEAR_DIFFERENCE: "no_difference",
    Lean.NO: "against",
}
"""Stances of studies by the finding's lean; any other lean is `unclear`."""
_ORDER = {
    key: place
    for place, key in enumerate(
        "id url request_id question understood_as subject mode parent scope collection searched outcome code message "
        "headline summary answer sentences citations confidence evidence_strength missing near_questions evidence "
        "left_out definitions definition overview wish filters years designs agreement outcome_concept outcome_name "
        "subject_concept favours no_difference against unclear by_population finding_id statement target_sections "
        "understood also_searched related_topics legs lexical dense linked pool found ranked generator rank index "
        "what reason passage_id passage_version study_id finding_ids study_ids title authors year journal doi design "
        "peer_reviewed notice status section kind attribution text verdict support_level paragraph support start end "
        "quote studies_for studies_against studies_without_difference score lexical_score dense_score distance label "
        "reasons calibration keyword_hits highlights because step effect value detail ok candidates error name "
        "version model prompt fallback_from fallback_reason tokens cost ask intent intents intervention comparator "
        "language sources author pmid concepts terms core corrections typed population age_groups training sexes "
        "facets numbers asks_for_figures signals corpus_version site_hash policy encoder notices gone at timings_ms "
        "understand encode rerank verify store total guardrail route created_at".split()
    )
}


def replace_unstorable(text: str) -> str:
    """Replace characters that PostgreSQL cannot store: NUL and lone surrogates."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def in_contract_order(body: Payload) -> Payload:
    """Sort the keys of a payload as in the contract: jsonb does not preserve their order."""
    return {key: _sort_nested(body[key]) for key in sorted(body, key=_place)}


_SCALARS = (str, int, float, bool, type(None))  # values without keys to sort


def _sort_nested(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: inner if isinstance(inner := value[key], _SCALARS) else _sort_nested(inner)
            for key in sorted(value, key=_place)
        }
    return [_sort_nested(inner) for inner in value] if isinstance(value, list) else value


def _place(key: str) -> tuple[int, str]:
    return _ORDER.get(key, len(_ORDER)), key


def _scope_in_words(ending: Ending) -> str | None:
    """Return a note on where a question limited to a collection was searched; None where everything was."""
    if ending.scope is Scope.COLLECTION:
        return "Only this collection was searched."
    if ending.scope is not Scope.COLLECTION_THEN_GLOBAL:
        return None
    if isinstance(ending, Refused):
        return "This collection was searched first, then all the others, and they hold no answer either."
    return "This collection holds too little on the question, so all the others were searched too."


ADDED: Payload = {
    "headline": None, "evidence_strength": None, "missing": [], "near_questions": [], "site_hash": None, "filters": {},
}  # fmt: skip
"""Fields added in later editions of the contract, with their defaults."""
ADDED_TO_UNDERSTOOD: Payload = {
    "ask": None, "intent": None, "intervention": [], "comparator": [], "outcome": [], "language": None, "sources": [],
    "facets": {}, "subject": None,
}  # fmt: skip


def with_added(body: Payload) -> Payload:
    """Return a stored payload with the fields that later editions of the contract added."""
    understood = ADDED_TO_UNDERSTOOD | (body.get("understood") or {})
    return deepcopy(ADDED) | body | {"understood": deepcopy(understood)}


def _understood(query: Query, search: SearchRun | None) -> Payload:
    """Return the parsed query and the signals behind the decision to answer."""
    studied = {concept.concept_id for concept in query.concepts}
    return {
        "subject": describe_subject(query),
        "ask": query.ask or None,
        "intent": query.intent.value,
        "intervention": [concept_id for concept_id in query.intervention if concept_id in studied],
        "comparator": [concept_id for concept_id in query.comparator if concept_id in studied],
        "outcome": [concept_id for concept_id in query.outcome if concept_id in studied],
        "language": query.language,
        "sources": [
            {"author": name, "year": None, "doi": None, "pmid": None, "title": None} for name in query.sources.names
        ],
        "intents": [query.intent.value],
        "concepts": [concept.concept_id for concept in query.concepts],
        "unstudied": [concept.concept_id for concept in query.unstudied],
        "terms": list(query.terms),
        "core": None if query.ask == query.text else query.ask or None,
        "corrections": [{"typed": typed, "searched": meant} for typed, meant in query.corrections],
        "population": {
            "age_groups": list(query.facets.of("age_group")),
            "training": list(query.facets.of("training_status")),
            "sexes": list(query.facets.of("sex")),
        },
        "facets": {key: list(values) for key, values in query.facets.values.items()},
        "numbers": list(query.numbers),
        "asks_for_figures": query.intent is Intent.HOW_MANY,
        "signals": {name: round(value, 4) for name, value in search.signals.items()} if search else {},
    }


def is_from_studies(body: Mapping[str, Any]) -> bool:
    """Tell whether an answer was looked for in studies, and not counted or given as a fixed reply."""
    return body["outcome"] != Outcome.GUARDRAIL.value and not body.get("overview")


def part(sentences: tuple[Sentence, ...]) -> Payload:
    """Return the summary or the answer: its text with citation markers and its sentences."""
    return {
        "text": citations.with_markers((s.text, s.citations, s.paragraph) for s in sentences),
        "sentences": [
            {
                "text": sentence.text,
                "attribution": sentence.attribution or None,
                "citations": list(sentence.citations),
                "verdict": sentence.verdict.value,
                "support_level": sentence.support_level,
                "kind": sentence.kind.value,
                "paragraph": sentence.paragraph,
                "support": support(sentence.support) + _counted_studies(sentence),
            }
            for sentence in sentences
        ],
    }


def headline_row(headline: Headline) -> Payload:
    """Return the headline, its verdict and the number of studies by result."""
    return {
        "text": headline.text,
        "verdict": headline.verdict.value if headline.verdict else None,
        "studies_for": headline.studies_for,
        "studies_against": headline.studies_against,
        "studies_without_difference": headline.studies_without_difference,
        "citations": list(headline.citations),
        "kind": SentenceKind.QUOTE.value,
        "support": support(headline.support),
    }


def support(spans: Iterable[Span]) -> list[Payload]:
    """Return the quoted spans of a sentence."""
    return [
        {
            "passage_id": span.passage_id,
            "passage_version": span.passage_version,
            "study_id": span.study_id,
            "start": span.start,
            "end": span.end,
            "quote": span.quote,
        }
        for span in spans
    ]


def _strength(strength: EvidenceStrength) -> Payload:
    reasons = [{"code": reason.code, "text": reason.text} for reason in strength.reasons]
    return {"level": strength.level.value, "reasons": reasons}


def _near_question(near: NearQuestion, mode: Mode) -> Payload:
    """Return a curated question, the address of the ask page with it filled in, and the study that answers it."""
    return {"question": near.question, "url": ask_address(near.question, mode), "study_id": near.study_id}


def ask_address(question: str, mode: Mode = Mode.BEGINNER) -> str:
    """Return the address of the ask page with this question in its box."""
    asked = {"q": question} | ({} if mode is Mode.BEGINNER else {"mode": mode.value})
    return f"{reverse('ask')}?{urlencode(asked)}"


def _counted_studies(sentence: Sentence) -> list[Payload]:
    """Return the studies that a sentence about the corpus counts."""
    if not sentence.counted_studies:
        return []
    named = {"study_id": sentence.counted_studies[0]} if sentence.citations else {}
    return [{**named, "finding_ids": [], "study_ids": list(sentence.counted_studies)}]


def _overview(overview: Overview) -> Payload:
    return {
        "wish": overview.wish,
        "total": overview.total,
        "filters": [list(pair) for pair in overview.filters],
        "years": [list(pair) for pair in overview.years],
        "designs": [list(pair) for pair in overview.designs],
    }


def generator_row(generator: Generator) -> Payload:
    """Return who wrote the answer, and its cost."""
    return {
        "name": generator.name,
        "version": generator.version,
        "model": generator.model,
        "prompt": generator.prompt,
        "fallback_from": generator.fallback_from,
        "tokens": generator.tokens,
        "cost": generator.cost,
        "fallback_reason": generator.fallback_reason,
    }


def citation_rows(cited: Iterable[Citation]) -> list[Payload]:
    """Return the cited studies by citation number."""
    return [_citation(citation) for citation in cited]


def evidence_rows(passages: Iterable[Candidate], query: Query) -> list[Payload]:
    """Return the passages in rank order."""
    return [_evidence(rank, candidate, query) for rank, candidate in enumerate(passages, start=1)]


def _citation(citation: Citation) -> Payload:
    study = citation.study
    return {
        "index": citation.index,
        "study_id": study.study_id,
        "title": study.title,
        "authors": list(study.authors),
        "year": study.year,
        "journal": study.journal,
        "doi": study.doi,
        "url": link(study),
        "design": study.design,
        "peer_reviewed": study.peer_reviewed,
        "population": study.population,
        "notice": study.notice.value,
        "status": study.status.value,
    }


def link(study: Study) -> str | None:
    """Return an http(s) address of the study, its own or its DOI's."""
    if study.url and study.url.lower().startswith(("https://", "http://")):
        return study.url
    return f"https://doi.org/{study.doi}" if study.doi else None


def _confidence(confidence: Confidence) -> Payload:
    return {
        "score": confidence.score,
        "label": confidence.label,
        "reasons": list(confidence.reasons),
        "calibration": confidence.calibration,
    }


def _evidence(rank: int, candidate: Candidate, query: Query) -> Payload:
    passage, hit = candidate.passage, candidate.hit
    cosine = None if hit.cosine is None else round(hit.cosine, 6)
    terms = frozenset((*query.terms, *stems(" ".join(c.name for c in query.concepts))))
    return {
        "rank": rank,
        "passage_id": passage.passage_id,
        "passage_version": passage.version,
        "study_id": passage.study.study_id,
        "title": passage.study.title,
        "section": passage.own_section or passage.section.value,
        "kind": passage.kind.value,
        "text": passage.text,
        "score": round(candidate.score, 6),
        "lexical_score": round(hit.bm25, 6),
        "dense_score": cosine,
        "distance": None if cosine is None else round(1 - cosine, 6),
        "confidence": candidate.chance,
        "keyword_hits": candidate.keyword_hits,
        "highlights": [list(span) for span in highlights(passage.text, terms)],
        "because": [{"step": b.step, "effect": b.effect, "value": b.value} for b in candidate.because],
    }


def _left_out(entry: LeftOut) -> Payload:
    row: Payload = {"what": entry.what, "reason": entry.reason.value, "detail": entry.detail}
    if entry.what == "passage":
        return {**row, "passage_id": entry.passage_id, "study_id": entry.study_id}
    return {**row, "text": replace_unstorable(entry.text or "")}


def _agreement(agreement: Agreement | None) -> Payload | None:
    """Return the findings by the stance of their study; `by_population` is empty since version 2."""
    if agreement is None:
        return None
    return {
        "outcome_concept": agreement.outcome.concept_id,
        "outcome_name": agreement.outcome.name,
        "subject_concept": agreement.subject.concept_id if agreement.subject else None,
        "intervention": agreement.intervention,
        "comparator": agreement.comparator,
        **{
            stance: [
                {
                    "study_id": f.study_id,
                    "finding_id": f.finding_id,
                    "statement": f.statement,
                    "stance": STANCES.get(agreement.stance_of(f), "unclear"),
                    "is_turned": f.finding_id in agreement.turned,
                }
                for row in agreement.studies
                if STANCES.get(row.lean, "unclear") == stance
                for f in row.findings
            ]
            for stance in (*STANCES.values(), "unclear")
        },
        "by_population": [],
    }


def _legs(search: SearchRun | None) -> Payload:
    """Return the three retrieval legs; the linked one runs where the others find little."""
    idle = leg(Leg(True, 0))
    if search is None:
        return {"lexical": idle, "dense": idle, "linked": idle}
    return {
        "lexical": leg(search.found.lexical),
        "dense": leg(search.found.dense),
        "linked": leg(search.linked) if search.linked else idle,
    }


def leg(went: Leg) -> Payload:
    """Return the status of one retrieval leg."""
    return {"ok": went.ok, "candidates": went.candidates, "error": went.error}
