"""The reading of an import's source: its drafts one by one, with what was found besides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from corpus_app.curation import importing
from corpus_app.curation.effects import Draft, JoiningRecord, row_problems
from corpus_app.models import Concept
from corpus_app.sources import AddedPassages, Collector, Item, NoticeDraft, Problem, SheetRow, StudyDraft, Weight

MAX_PROBLEMS = 2_000  # kept of a source; the others are only counted


class Reading:
    """The drafts of a source in the order of an import: its studies as they come, then its passages and notices.

    It can be left and continued. A source that is read again gives the same drafts in the same order.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self.problems: list[Problem] = []
        self.n_problems = 0
        self.n_broken = 0
        self.identities: set[str] = set()
        """Ids, DOIs and PMIDs of the studies that came so far."""
        self._items = items
        self.known = importing.known_ids()
        self._collector = Collector(self.known)
        self._concepts = frozenset(Concept.objects.values_list("pk", flat=True))
        self._drafts = self._read()

    def __iter__(self) -> Iterator[Draft]:
        return self._drafts

    def _read(self) -> Iterator[Draft]:
        others: list[AddedPassages | NoticeDraft] = []
        rows: dict[str, SheetRow] = {}
        for item in self._items:
            match item:
                case Problem():
                    self._keep(item)
                case StudyDraft():
                    if earlier := self._collector.find_earlier(item):
                        yield JoiningRecord(self._with_known_concepts(item), earlier)
                        continue
                    if found := self._collector.problems_of(item):
                        for problem in found:
                            self._keep(problem)
                        continue
                    self.identities.update(value for _, value in item.identities())
                    yield self._with_known_concepts(item)
                case SheetRow():
                    if first := rows.get(item.study_id):
                        self._keep(item.twin_problem(first))
                    else:
                        rows[item.study_id] = item
                case _:
                    others.append(item)
        others.sort(key=lambda item: isinstance(item, NoticeDraft))
        yield from others
        for problem in row_problems(list(rows.values()), self.known):
            self._keep(problem)
        yield from rows.values()

    def _keep(self, problem: Problem) -> None:
        self.n_problems += 1
        self.n_broken += problem.weight is Weight.BROKEN
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(problem)

    def _with_known_concepts(self, draft: StudyDraft) -> StudyDraft:
        unknown = [name for name in draft.concepts if name not in self._concepts]
        if not unknown:
            return draft
        reason = f"{', '.join(unknown)}: no such concept here; the study comes without."
        self._keep(replace(draft.problem("concepts", reason), weight=Weight.DROPPED))
        return replace(draft, concepts=tuple(name for name in draft.concepts if name in self._concepts))
