"""Sections of the sources under their own names, each with the role that its name suggests."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from corpus_app import search
from corpus_app.models import Passage
from corpus_app.records import SectionRole, Status
from corpus_app.sources import is_paper_section

MOST_SHOWN = 100
_WORD = re.compile(r"[^\W_]+")
WORDS = Path(__file__).with_name("section_words.toml")
_WORDS_OF_ROLES = {
    SectionRole(role): tuple(row["words"]) for role, row in tomllib.loads(WORDS.read_text("utf-8")).items()
}


@dataclass(frozen=True, slots=True)
class OwnSection:
    """A section's name as it stands in the sources, with the number of its passages and a role."""

    name: str
    passages: int
    role: SectionRole
    is_declared: bool


def own_sections() -> list[OwnSection]:
    """Return the sections that are not those of a paper, the most frequent first."""
    declared = {name.casefold(): role for name, role in search.site().section_roles.items()}
    used = Passage.objects.exclude(study__status__in=[Status.WITHDRAWN, Status.ARCHIVED]).exclude(source_heading="")
    counts: Counter[str] = Counter()
    for headings in used.values_list("source_heading", flat=True):
        name = headings.split(" > ")[-1].strip()
        if name and not is_paper_section(headings):
            counts[name] += 1
    return [
        OwnSection(name, n, declared.get(name.casefold()) or guess_role(name), name.casefold() in declared)
        for name, n in counts.most_common(MOST_SHOWN)
    ]


def guess_role(name: str) -> SectionRole:
    """Return the role that a section's name suggests; a finding where no word of it says anything."""
    words = f" {' '.join(_WORD.findall(name.lower()))} "
    fitting = (role for role, known in _WORDS_OF_ROLES.items() if any(f" {word} " in words for word in known))
    return next(fitting, SectionRole.FINDING)
