"""Read a PDF as one source: its paragraphs under their headings, each passage with the page on which it begins."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import PurePath

from corpus_app.records import PassageKind, Section
from corpus_app.sources.bibliography import Intake, Item, Record, items_of
from corpus_app.sources.drafts import Problem, Weight
from corpus_app.sources.files import Refused
from corpus_app.sources.intake import Source
from corpus_app.sources.pdf import PdfText, text_of_pdf
from corpus_app.sources.plain_text import passages_of

_BROKEN = re.compile(r"(?<![^\W\d_])(?P<left>[^\W\d_]+)-\n(?P<right>[^\W\d_]+)")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_LONGEST_TITLE = 20  # words
_NO_TITLE = re.compile(r"(?i)untitled.*|microsoft word - .*|\S+\.(?:docx?|html?|indd|odt|pages|pdf|rtf|tex)")
"""What programs write for a title where nobody gave one."""


def items(source: Source, intake: Intake) -> Iterator[Item]:
    found = text_of_pdf(source)
    text, starts = whole_text(found)
    passages, problems = passages_of(text, name=source.name, section=Section.INTRODUCTION)
    if not passages:
        raise Refused("holds no text that could become passages.")
    named = "" if _NO_TITLE.fullmatch(found.title.strip()) else found.title.strip()
    title = named or _title(text, source.name)
    record = Record(source.name, 1, title=title, kinds=["report"], is_reviewed=False)
    if not named:
        record.report(
            "title", f"the PDF names no title; “{record.title[:80]}” was taken. Correct it where it is wrong."
        )
    record.passages = tuple(
        replace(
            passage,
            page=bisect_right(starts, passage.start or 0),
            kind=PassageKind.EXCERPT,
            heading="" if passage.heading == record.title else passage.heading,
        )
        for passage in passages
    )
    if found.left_out:
        reason = f"has more pages than are read; the last {found.left_out} were left out. Split the file."
        record.report("passages", reason, Weight.DROPPED)
    for what, words in (("running heads", found.running_heads), ("marks of its references", found.citation_marks)):
        if words:
            record.report("passages", f"left out as {what}: {', '.join(words)[:300]}.")
    for item in items_of(record, intake):
        # a line number says nothing of a PDF
        yield replace(item, line=None) if isinstance(item, Problem) else item
    yield from (replace(problem, line=None) for problem in problems)


def whole_text(found: PdfText) -> tuple[str, list[int]]:
    """Return the text of all pages in paragraphs, and where each page begins in it.

    A sentence that goes on over the page stays in one paragraph.
    """
    known = frozenset(_WORD.findall(_BROKEN.sub(" ", "\n".join(found.pages)).casefold()))
    text = ""
    starts: list[int] = []
    for page in found.pages:
        paragraphs = [" ".join(_BROKEN.sub(partial(_rejoin, known), part).split("\n")) for part in page.split("\n\n")]
        words = "\n\n".join(" ".join(part.split()) if not part.startswith("#") else part for part in paragraphs).strip()
        goes_on = text and words and text[-1] not in ".?!:”)]" and not words[0].isupper() and words[0] != "#"
        text += "" if not text or not words else " " if goes_on else "\n\n"
        starts.append(len(text))
        text += words
    return text, starts


def _rejoin(known: frozenset[str], match: re.Match[str]) -> str:
    """Return a word that was broken at the end of a line, with its hyphen where the file writes it so elsewhere.

    `known` are the words of the file. Two words of it that make no third one are a compound.
    """
    left, right = match["left"].casefold(), match["right"].casefold()
    is_compound = f"{left}-{right}" in known or (f"{left}{right}" not in known and {left, right} <= known)
    return f"{match['left']}{'-' if is_compound or match['right'][0].isupper() else ''}{match['right']}"


def _title(text: str, name: str) -> str:
    """Return the first line of a text, or the name of its file where that is a sentence."""
    first = next((line.lstrip("# ") for line in text.split("\n") if line.strip()), "")
    is_sentence = bool(re.search(r"[.!?](?:\s|$)", first)) or len(first.split()) > _LONGEST_TITLE
    return re.sub(r"[_\s]+", " ", PurePath(name).stem) if is_sentence else first
