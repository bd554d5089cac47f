"""Join two records of one study: the passages of both without doubles, and the fields that one of them lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz

from corpus_app.records import PassageKind
from corpus_app.sources.bibliography import plain_words, study_id_of
from corpus_app.sources.drafts import PassageDraft, StudyDraft
from corpus_app.sources.duplicates import KnownStudy, are_twins, find_identity, known_of, merge_drafts, twin_key

ALIKE = 92.0  # of 100: the same passage with another spelling, sign or full stop


def join_passages(present: Sequence[PassageDraft], new: Iterable[PassageDraft]) -> tuple[PassageDraft, ...]:
    """Return the present passages, then those of the new ones that say something else."""
    joined = [*present]
    known = [plain_words(passage.text) for passage in present]
    for passage in new:
        text = plain_words(passage.text)
        if not any(text in other or fuzz.ratio(text, other, score_cutoff=ALIKE) for other in known):
            joined.append(passage)
    return tuple(joined)


def newer_passages(present: Sequence[PassageDraft], new: Sequence[PassageDraft]) -> tuple[PassageDraft, ...]:
    """Return the new passages where they cover all sections of the present ones, else both, joined."""
    sections = {passage.section for passage in present}
    has_own_words = any(passage.kind is PassageKind.SUMMARY for passage in present)
    covers = sections <= {passage.section for passage in new} and len(new) >= len(present)
    return tuple(new) if covers and not has_own_words else join_passages(present, new)


def is_bibliographic(draft: StudyDraft) -> bool:
    """Return whether the draft holds only what a reference manager exports."""
    first_author = draft.authors[0] if draft.authors else ""
    named = study_id_of(
        doi=draft.doi,
        pmid=draft.pmid,
        title=draft.title,
        year=draft.year,
        first_author=first_author,
        words=draft.passages[0].text if draft.passages else "",
    )
    says_more = draft.concepts or draft.findings or draft.population or draft.curator_notes or draft.n_participants
    return draft.study_id == named and not says_more


@dataclass(frozen=True, slots=True)
class EarlierRecord:
    """The identity of a study of a file, by which a later record of it is recognised."""

    known: KnownStudy
    origin: str
    line: int | None
    letters: int
    """Of its passages: the fuller of two records leads."""
    is_bibliographic: bool
    content: int
    """A hash of the whole draft."""

    @property
    def study_id(self) -> str:
        return self.known.study_id

    def is_led_by(self, draft: StudyDraft) -> bool:
        return count_letters(draft) > self.letters

    def is_joined_by(self, draft: StudyDraft) -> bool:
        """Return whether a later record is surely the same study, so that the two are joined."""
        both = self.is_bibliographic and is_bibliographic(draft)
        return both and hash(draft) != self.content and are_twins(self.known, known_of(draft))


def record_of(draft: StudyDraft) -> EarlierRecord:
    letters, bibliographic = count_letters(draft), is_bibliographic(draft)
    return EarlierRecord(known_of(draft), draft.origin, draft.line, letters, bibliographic, hash(draft))


def names_of(draft: StudyDraft) -> Iterator[tuple[str, str]]:
    """Yield what names a study in its file: its id, DOI, PMID, and its title with year and first author."""
    yield from draft.identities()
    if key := twin_key(known_of(draft)):
        yield "title", key


def join_records(earlier: StudyDraft, draft: StudyDraft, *, draft_leads: bool) -> StudyDraft:
    """Return one draft of two records of a study; the id is that of the earlier one."""
    leads, other = (draft, earlier) if draft_leads else (earlier, draft)
    return replace(
        merge_drafts(leads, other),
        study_id=earlier.study_id,
        passages=join_passages(leads.passages, other.passages),
        labels=tuple(dict.fromkeys([*earlier.labels, *draft.labels])),
    )


def count_letters(draft: StudyDraft) -> int:
    return sum(len(passage.text) for passage in draft.passages)


def joined_words(earlier: EarlierRecord, draft: StudyDraft) -> str:
    """Return what a curator should know of a record that joins an earlier one of its file."""
    same = find_identity(earlier.known, known_of(draft)) or "the same title, year and first author"
    stays = "this record" if earlier.is_led_by(draft) else "that one"
    return (
        f"{same} stands in {earlier.origin}, line {earlier.line}, already: the two are joined. "
        f"Where they differ, the words of {stays} stay."
    )
