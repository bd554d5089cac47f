"""Read pasted text: headings on separate lines, paragraphs separated by empty lines."""

from __future__ import annotations

import re

from corpus_app.passages import SectionText
from corpus_app.records import Section
from corpus_app.sources.bibliography import drafted
from corpus_app.sources.drafts import PassageDraft, Problem, Weight
from corpus_app.sources.headings import is_boilerplate, section_of

MAX_HEADING_WORDS = 8


def passages_of(
    text: str, *, name: str = "text", section: Section = Section.ABSTRACT
) -> tuple[tuple[PassageDraft, ...], tuple[Problem, ...]]:
    """Return the passages of a pasted text, and problems; text before the first heading belongs to `section`.

    Offsets refer to the pasted text with LF line ends.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    sections: list[SectionText] = []
    problems: list[Problem] = []
    current: Section | None = section
    heading = ""
    held: list[tuple[int, int]] = []

    def close() -> None:
        if held and current is not None:
            start, end = held[0][0], held[-1][1]
            sections.append(SectionText(current, heading, text[start:end], start))
        held.clear()

    at = 0
    for number, line in enumerate(text.split("\n"), start=1):
        start, at = at, at + len(line) + 1
        words = line.strip()
        if not words:
            continue
        if _is_heading(words):
            close()
            heading = words.lstrip("# ").rstrip(":. ")
            named = section_of(heading)
            current = None if is_boilerplate(heading) else named or current or section
            if current is None:
                problems.append(
                    Problem(
                        name,
                        number,
                        "",
                        f"the part “{heading[:60]}” says nothing of the study, and was left out.",
                        Weight.REPORTED,
                    )
                )
        else:
            first = start + len(line) - len(line.lstrip())
            held.append((first, first + len(words)))
    close()
    return drafted(sections), tuple(problems)


def _is_heading(line: str) -> bool:
    """Return whether a short line names a section or boilerplate, or is marked as a heading."""
    bare = re.sub(r"^(?:\d+(?:\.\d+)*|[IVX]+)[.)]?\s+", "", line.lstrip("# ").rstrip(":. "))
    if not bare or len(bare.split()) > MAX_HEADING_WORDS or line[-1] in ",;":
        return False
    if line.startswith("#"):
        return True
    is_titled = bare[0].isupper() or bare[0].isdigit()
    return (
        is_titled
        and not re.search(r"[.!?]\s", bare)
        and (line[-1] != "." or len(bare.split()) < 4)
        and (section_of(bare) is not None or is_boilerplate(bare))
    )
