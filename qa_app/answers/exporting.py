"""Export an answer: citations for reference managers, the evidence table as CSV, everything as Markdown.

Exports show the present corpus: withdrawn studies are left out and notices are included.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from django.utils.translation import gettext

from corpus_app import search
from corpus_app.records import Reference
from qa_app.answers import asking, evidence_table, presentation, redaction, study_filters
from qa_app.answers.site_words import in_site_words
from qa_app.templatetags import answer_words

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Form:
    """A file format."""

    suffix: str
    content_type: str
    write: Callable[[Payload, str], bytes]
    """Takes a payload and the site's address."""


@dataclass(frozen=True, slots=True)
class Export:
    content: bytes
    content_type: str
    name: str
    """A file name of letters, digits, dashes and dots."""

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Disposition": f'attachment; filename="{self.name}"'}


def export(answer_id: str, form: str, *, site: str) -> Export | None:
    """Return the answer as a file; None where there is no such answer.

    `form` is a key of FORMS; `site` is an address such as https://example.org/.
    """
    chosen = FORMS[form]
    with search.snapshot():
        payload = asking.find_answer(answer_id)
        if payload is None:
            return None
        content = chosen.write(in_site_words(payload), site.rstrip("/"))
    return Export(content, chosen.content_type, f"inform-{payload['id']}.{chosen.suffix}")


def _sources(write: Callable[[Sequence[Reference]], bytes]) -> Callable[[Payload, str], bytes]:
    """Return a writer of the studies that an answer cites, in the order of citation."""

    def written(payload: Payload, site: str) -> bytes:
        shown = [row["study_id"] for row in payload["citations"] if row["status"] != "withdrawn"]
        return write(search.references(shown))

    return written


def _table(payload: Payload, site: str) -> bytes:
    return evidence_table.to_csv(evidence_table.rows(payload))


# --- Markdown ---


def _markdown(payload: Payload, site: str) -> bytes:
    return ("\n\n".join(block for block in _blocks(payload, site) if block) + "\n").encode()


def _blocks(payload: Payload, site: str) -> Iterator[str]:
    page = presentation.read(payload)
    yield f"# {_plain(payload['question'])}"
    yield f"**{answer_words.outcome_words(payload['outcome'])}.** {_plain(payload['message'] or '')}".rstrip()
    if filters := study_filters.describe(payload["filters"]):
        yield f"Only from studies that fit: {_plain('; '.join(filters))}."
    yield "\n>\n".join(f"> {line}" for line in _notices(page))
    if page.headline:
        yield _headline(page.headline)
    if payload["outcome"] == "partial" and page.missing:
        yield f"Not mentioned in the quoted passages: {_plain(', '.join(page.missing))}."
    for title, paragraphs in (("Summary", page.summary), ("Answer", page.answer)):
        if paragraphs:
            yield f"## {title}"
            yield from (" ".join(map(_sentence, sentences)) for sentences in paragraphs)
    if page.whose_words:
        yield gettext(_WHOSE_WORDS[page.whose_words])
    if payload["evidence_strength"] and not page.is_refusal:
        yield "## Strength of the evidence"
        yield _strength(payload["evidence_strength"], is_past=bool(page.lost))
    if payload["confidence"]:
        yield "## Does this answer fit the question?"
        yield _confidence(payload["confidence"], is_past=bool(page.lost))
    if page.near_questions:
        yield f"## {gettext(ALSO_ANSWERED)}"
        yield "\n".join(f"- {_plain(near['question'])} {_link(site + near['url'])}" for near in page.near_questions)
    if page.sources:
        yield "## Sources"
        yield "\n".join(f"{source['index']}. {_source(source)}" for source in page.sources)
    yield "---"
    yield _origin(payload, site)


def _headline(headline: presentation.ShownHeadline) -> str:
    verdict = f"**{answer_words.verdict_words(headline.verdict)}.** " if headline.verdict else ""
    counts = answer_words.counts_words(headline.counts) if headline.counts else ""
    return f"{verdict}{_sentence(headline.sentence)}{f' ({counts})' if counts else ''}"


def _strength(strength: Mapping[str, Any], *, is_past: bool) -> str:
    level = answer_words.strength_words(strength["level"])
    if is_past:
        return f"Was {level} when the answer was given, before it lost sources."
    return " ".join((f"{level.capitalize()}.", *(_plain(reason["text"]) for reason in strength["reasons"])))


def _sentence(sentence: presentation.ShownSentence) -> str:
    weak = " (loosely supported)" if sentence.is_weak else ""
    who = [f"*{_plain(sentence.attribution)}:*"] if sentence.attribution else []
    return " ".join((*who, _plain(sentence.text) + weak, *(f"[{index}]" for index in sentence.markers)))


# Exports are in English: these are given to gettext for the nouns of the site alone, and are in no catalogue.
ALSO_ANSWERED = "The studies also answer"
NEWER_CORPUS = "The studies have changed since this was answered; asking again may give another answer."
_WHOSE_WORDS = {
    "all": "The passages are curators' summaries, not the studies' own words.",
    "some": "Some of the passages are curators' summaries, not the studies' own words.",
}
_BANNERS = {
    "retracted": "A study used here has been retracted; do not rely on its words",
    "expression_of_concern": "A journal has voiced concern about a study used here",
    "corrected": "A study used here has been corrected; figures below may be from before the correction",
    "passage_changed": "A passage used here has been edited since; the words here are as they were",
}


def _notices(page: presentation.Page) -> Iterator[str]:
    for banner in page.banners:
        day = f" ({banner.at[:10]})" if banner.at else ""
        if banner.kind == "withdrawn":
            many = "A source was" if banner.count == 1 else f"{banner.count} sources were"
            them = "it" if banner.count == 1 else "them"
            yield f"**{many} withdrawn{day}.** What rested on {them} is no longer shown."
            continue
        if banner.kind == "archived":
            many = "A source is" if banner.count == 1 else f"{banner.count} sources are"
            yield f"**{many} no longer part of the corpus{day}.** No new answer uses them."
            continue
        words = gettext(_BANNERS[banner.kind])
        words = words.replace("edited", "removed") if banner.is_gone else words
        yield f"**{words}{day}{':' if banner.title else '.'}** {_plain(banner.title)}".rstrip()
    if page.has_newer_corpus:
        yield gettext(NEWER_CORPUS)


def _confidence(confidence: Mapping[str, Any], *, is_past: bool) -> str:
    label = answer_words.confidence_words(confidence["label"])
    if is_past:
        return f"Was {label.lower()}, {confidence['score']} of 100, when the answer was given."
    reasons = "; ".join(map(_plain, confidence["reasons"]))
    return f"{label}, {confidence['score']} of 100{f': {reasons}' if reasons else ''}."


def _source(source: Mapping[str, Any]) -> str:
    if source["status"] == "withdrawn":
        return redaction.WITHDRAWN
    notice = "" if source["notice"] == "none" else f"**{source['notice'].replace('_', ' ').capitalize()}.**"
    parts = (
        notice,
        _ended(_plain(", ".join(source["authors"])) + (f" ({source['year']})" if source["year"] else "")),
        _ended(_plain(source["title"])),
        _ended(f"*{_plain(source['journal'])}*" if source["journal"] else ""),
        _ended(_plain("; ".join(filter(None, (source["design"].replace("_", " "), source["population"]))))),
        _link(f"https://doi.org/{source['doi']}" if source["doi"] else source["url"]),
    )
    return " ".join(part for part in parts if part)


def _ended(text: str) -> str:
    return text if not text or text.endswith((".", "?", "!")) else f"{text}."


def _link(address: str | None) -> str:
    return f"<{quote(address, safe=_SAFE_IN_ADDRESS)}>" if address else ""


_SAFE_IN_ADDRESS = ":/?#@!$&'()*+,;=%-._~"


def _origin(payload: Payload, site: str) -> str:
    writer = answer_words.writer_words(payload["generator"]["name"])
    site_file = f", site file {payload['site_hash']}" if payload["site_hash"] else ""
    return (
        f"Answered by InForm on {payload['created_at'][:10]} from corpus version {payload['corpus_version']}{site_file}"
        f", for a {payload['mode']} reader. "
        f"{writer}. The answer and the words behind each sentence: {_link(site + payload['url'])}"
    )


_MARKS = re.compile(r"[\\`*_\[\]<>|~&#@]|(?<=http):|(?<=https):|(?<=ftp):|(?<=www)\.", re.IGNORECASE)
_LIST_MARK = re.compile(r"^(\d+)([.)])|^([-+=])")


def _plain(text: str) -> str:
    """Escape Markdown and return the text on one line."""
    line = _MARKS.sub(r"\\\g<0>", " ".join(text.split()))
    return _LIST_MARK.sub(lambda found: f"{found[1]}\\{found[2]}" if found[1] else f"\\{found[3]}", line)


FORMS = {
    "ris": Form("ris", "application/x-research-info-systems; charset=utf-8", _sources(search.to_ris)),
    "bibtex": Form("bib", "application/x-bibtex; charset=utf-8", _sources(search.to_bibtex)),
    "csl": Form("csl.json", "application/vnd.citationstyles.csl+json", _sources(search.to_csl_json)),
    "md": Form("md", "text/markdown; charset=utf-8", _markdown),
    "csv": Form("csv", "text/csv; charset=utf-8", _table),
}
BY_SUFFIX = {form.suffix: name for name, form in FORMS.items()}
