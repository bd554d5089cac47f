"""Typed registries that other apps fill at startup to extend the corpus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User

from corpus_app.records import AnsweredQuestion, Finding, Impact, Panel, Passage, ProposedWords

impact_providers: list[Callable[[Sequence[str], Sequence[int] | None], Iterable[Impact]]] = []
"""List what depends on studies, or on some of their passages (None: on all), before a curator removes them."""

publish_checks: list[Callable[[Sequence[str]], Iterable[str]]] = []
"""List reasons why studies may not be published; called on the uncommitted corpus."""

replacement_steps: list[Callable[[Sequence[str]], Iterable[str]]] = []
"""Adapt what other apps hold to a corpus that replaces these studies, in its transaction; list what was done."""

question_sources: list[Callable[[], Iterable[tuple[str, int]]]] = []
"""List questions and how often each was asked, to find terms that belong to no concept."""

citation_counters: list[Callable[[Sequence[str]], Mapping[str, int]]] = []
"""Count the answers that quote each of these studies."""

answered_questions_citing: list[Callable[[str], Iterable[AnsweredQuestion]]] = []
"""List the public answered questions whose answer cites a study."""

answered_questions_about: list[Callable[[str], Iterable[AnsweredQuestion]]] = []
"""List the public answered questions that name a concept."""

offered_questions_of: list[Callable[[str], Iterable[str]]] = []
"""List a few curated questions that a study answers."""

offered_questions_about: list[Callable[[str], Iterable[str]]] = []
"""List a few curated questions that name a concept."""

golden_questions: list[Callable[[User | None], Iterable[Mapping[str, Any]]]] = []
"""List the golden questions that a user may see, as rows of a golden file; None sees all."""

dashboard_panels: list[Callable[[User], Iterable[Panel]]] = []
"""List the panels of the curators' front page for a user."""

indexing_checks: list[Callable[[], bool]] = []
"""Return whether published texts wait to be indexed; filled by this app, for those that may not import the indexing."""

after_indexing: list[Callable[[], None]] = []
"""Start what depends on the indexed texts, each time that none is left to index."""

FindingWordWriter = Callable[[Finding, Sequence[Passage]], ProposedWords]
"""Propose plain words for a finding from the passages of its study."""

finding_word_writers: list[Callable[[], FindingWordWriter | None]] = []
"""Return a writer of plain words; None where no language model is configured."""


def find_finding_word_writer() -> FindingWordWriter | None:
    """Return the first configured writer of plain words; None where there is none."""
    return next((writer for find in finding_word_writers if (writer := find())), None)


def impacts(study_ids: Sequence[str], passage_ids: Sequence[int] | None = None) -> tuple[Impact, ...]:
    """Return everything that depends on these studies, or on these passages of them."""
    return tuple(impact for provider in impact_providers for impact in provider(study_ids, passage_ids))
