"""Take the citation marks of an article out of its text, and keep what they cite.

A mark such as [12], (12) or a raised 12 would read like a citation of an answer. Names and years stay as prose.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from common.dois import find_doi
from corpus_app.records import CitedWork
from corpus_app.sources.trees import Node

MARK, RAISED_MARK = "\ud800", "\ud801"
"""Places of marks while a text is put together; no XML file can hold these code points."""
MARKS = re.compile(f"[{MARK}{RAISED_MARK}]")
_MOST_IN_A_RANGE = 60

_NUMBERS = re.compile(r"(?P<open>\s*[\[(]?\s*)(?P<label>[A-Z]?\d{1,3}[a-z]?(?:\s?[,;–—‐-]\s?[A-Z]?\d{1,3}[a-z]?)*)?")
_NUMBERS_END = re.compile(r"\s*+[\])]?[.,;:]?\s*+")
_LINK = r"(?:\s?[,;–—⁻‐-]{1,2}\s?|\s?,?\s(?:and|to)\s|\s?&\s?|\s)?"
_ANY = f"[{MARK}{RAISED_MARK}]"
_IN_BRACKETS = rf"[\[(]\s?{_ANY}(?:{_LINK}{_ANY})*\s?[,;]?\s?[\])]"
_UNIT = rf"(?:[\[(]\s?{_IN_BRACKETS}(?:{_LINK}{_IN_BRACKETS})*\s?[\])]|{_IN_BRACKETS}|{_ANY})"
_GROUP = re.compile(rf"(?P<blank>\s?){_UNIT}(?:{_LINK}{_UNIT})*")
_RANGE = re.compile(r"[–—⁻‐-]|\bto\b")
_INTRODUCING = frozenset("in of by from see with to than per e.g cf".split())
"""Words after which a mark is a word of the sentence: “as shown in [12]”."""
_NAMING = frozenset("ref refs reference references".split())
_SEPARATORS = " ,;–-⁻[]()"


@dataclass(frozen=True, slots=True)
class CitedText:
    """A text without citation marks, and the works that they cited."""

    text: str
    cited: tuple[CitedWork, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A mark as the article has it: the ids of its references, and its number."""

    references: tuple[str, ...]
    label: str


def joined(parts: Sequence[CitedText], separator: str) -> CitedText:
    """Join texts, with the places of the works in the whole."""
    cited: list[CitedWork] = []
    at = 0
    for part in parts:
        cited += (replace(work, at=work.at + at) for work in part.cited)
        at += len(part.text) + len(separator)
    return CitedText(separator.join(part.text for part in parts), tuple(cited))


def references_of(root: Node) -> dict[str, CitedWork]:
    """Return the works of an article's reference lists by their ids, in their order."""
    found: dict[str, CitedWork] = {}
    for back in root.all("back"):
        for node in back.walk():
            if node.tag == "ref" and node.get("id"):
                ids = {part.get("pub-id-type"): part.text() for part in node.walk() if part.tag == "pub-id"}
                links = [part.get("href") for part in node.walk() if part.tag == "ext-link"]
                doi = next(filter(None, map(find_doi, [ids.get("doi", ""), *links])), "")
                label = node.text("label").strip(" .[]()")
                found[node.get("id")] = CitedWork(0, node.get("id"), label, doi, ids.get("pmid", ""))
    return found


def mark_of(node: Node) -> tuple[Mark, str] | None:
    """Return the mark of a cross-reference and the text in its place; None where it is prose (a name, a year)."""
    words = node.text()
    begin = _NUMBERS.match(words)
    end = _NUMBERS_END.fullmatch(words, begin.end()) if begin else None
    if begin is None or end is None:
        return None
    is_raised = any(part.tag == "sup" for part in node.walk())
    mark = Mark(tuple(node.get("rid").split()), begin["label"] or "")
    return mark, RAISED_MARK if is_raised else f"{begin['open']}{MARK}{end[0]}"


def raised_marks(text: str) -> tuple[str, int]:
    """Return a raised text without its marks and the signs between them, and the number of the marks."""
    number = len(MARKS.findall(text))
    return (MARKS.sub("", text).strip(_SEPARATORS) if number else text), number


def without_marks(text: str, marks: Sequence[Mark], works: Mapping[str, CitedWork]) -> CitedText:
    """Return the text without marks; one that is a word of its sentence is written as “ref. 12”.

    `marks` are those of the text, in its order.
    """
    parts: list[str] = []
    cited: list[CitedWork] = []
    waiting = iter(marks)
    at = length = 0

    def add(piece: str) -> None:
        nonlocal length
        parts.append(piece)
        length += len(piece)

    for group in _GROUP.finditer(text):
        add(text[at : group.start()])
        before, after = "".join(parts[-3:])[-200:], text[group.end() :]
        own = [next(waiting) for _ in MARKS.findall(group[0])]
        labels = iter(own)
        written = MARKS.sub(lambda _, labels=labels: next(labels).label, group[0])  # type: ignore[misc]
        shown = _as_words(before, group, written, after)
        at = group.end()
        if shown:
            add(shown)
        else:
            rest = after.lstrip() if length else after.lstrip(" ,;")
            if before.endswith(".") and rest.startswith("."):
                rest = rest[1:]  # "et al. [12]." has one full stop left
            if not length or rest[:1] in {*",.;:)]"} or len(rest) < len(after.lstrip()):
                at = len(text) - len(rest)
            elif after[:1].isalnum() and not before[-1].isspace() and before[-1] not in "([/–-":
                add(" ")
        cited += (replace(work, at=length) for work in _works(group[0], own, works))
    add(text[at:])
    return CitedText("".join(parts), tuple(cited))


def _as_words(before: str, group: re.Match[str], written: str, after: str) -> str:
    """Return how a mark is written that is a word of its sentence; empty where it is left out."""
    is_attached = not group["blank"] and before and not before[-1].isspace() and before[-1] not in "(["
    if RAISED_MARK in group[0] or is_attached:
        return ""
    word = before.rsplit(None, 1)[-1].strip("([,.").lower() if before.strip() else ""
    labels = " ".join(re.sub(r"[\[\]()]", "", written).split())
    if word in _NAMING:
        return f"{group['blank']}{labels}"
    is_bare = group[0].strip()[0] not in "[("
    if is_bare and max(before.rfind("("), before.rfind("[")) > max(before.rfind(")"), before.rfind("]")):
        return written
    opens = not before.strip() or (before.rstrip()[-1] in ".?!" and word != "al")
    if word in _INTRODUCING or (opens and re.match(r"\s?[a-z]", after)):
        name = "refs." if re.search(r"\D", labels) else "ref."
        return f"{group['blank']}{name.capitalize() if opens and word not in _INTRODUCING else name} {labels}"
    return ""


def _works(group: str, marks: Sequence[Mark], works: Mapping[str, CitedWork]) -> list[CitedWork]:
    """Return the works of a group of marks, those inside a range too, each once."""
    order = list(works)
    gaps = MARKS.split(group)
    found: list[str] = []
    for mark, gap in zip(marks, gaps, strict=False):
        own = [reference for reference in mark.references if reference in works]
        if own and found and _RANGE.search(gap):
            found += order[order.index(found[-1]) + 1 : order.index(own[0])][:_MOST_IN_A_RANGE]
        found += own
        if len(own) == 1 and (numbers := re.findall(r"\d+", mark.label)) and _RANGE.search(mark.label):
            start = order.index(own[0])
            found += order[start + 1 : start + 1 + min(int(numbers[-1]) - int(numbers[0]), _MOST_IN_A_RANGE)]
    labels = {reference: mark.label for mark in marks if len(mark.references) == 1 for reference in mark.references}
    return [
        replace(works[reference], label=works[reference].label or labels.get(reference, ""))
        for reference in dict.fromkeys(found)
    ]
