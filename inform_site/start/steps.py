"""The six steps, and how far each is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import reverse

from corpus_app import curation, search
from corpus_app.models import Concept, Study
from corpus_app.records import Status
from inform_site.start import sections
from qa_app.evaluation import verdicts
from qa_app.models import CorpusCalibration

QUESTIONS = 20


@dataclass(frozen=True, slots=True)
class Step:
    name: str
    """In addresses."""
    title: str
    is_done: bool
    state: str
    """How far it is, in a few words."""

    @property
    def address(self) -> str:
        return reverse(f"admin:start_{self.name}")


def is_empty() -> bool:
    """Return whether no study is published."""
    return not Study.objects.published().exists()


def steps() -> list[Step]:
    confirmed = curation.confirmed_steps()
    return [Step(name, title, *look(name in confirmed)) for name, title, look in _STEPS]


def _name(is_confirmed: bool) -> tuple[bool, str]:
    names, nouns = search.lexicons().get("site", {}), search.site().nouns
    held = nouns.many if nouns else "studies, until you choose another word"
    return "name" in names, f"It is called {names.get('name', 'InForm')}. What it holds is called {held}."


def _sources(is_confirmed: bool) -> tuple[bool, str]:
    published = Study.objects.published().count()
    waiting = Study.objects.filter(status__in=[Status.DRAFT, Status.IN_REVIEW]).count()
    return bool(published), f"Published: {published}. Drafts: {waiting}."


def _sections(is_confirmed: bool) -> tuple[bool, str]:
    own = sections.own_sections()
    open_ = sum(not section.is_declared for section in own)
    is_done = not is_empty() and (is_confirmed or not open_)
    return is_done, f"Names of sections of your own: {len(own)}, confirmed: {len(own) - open_}."


def _concepts(is_confirmed: bool) -> tuple[bool, str]:
    count = Concept.objects.count()
    return not is_empty() and (bool(count) or is_confirmed), f"Concepts: {count}."


def _safety(is_confirmed: bool) -> tuple[bool, str]:
    return is_confirmed, "Read and confirmed." if is_confirmed else "Not confirmed yet."


def _questions(is_confirmed: bool) -> tuple[bool, str]:
    judged, left = verdicts.count_verdicts(), len(verdicts.waiting())
    is_calibrated = CorpusCalibration.newest() is not None
    fitted = "The site is calibrated." if is_calibrated else "The site is not calibrated yet."
    return is_calibrated and bool(judged) and not left, f"Judged: {judged}. Open: {left}. {fitted}"


_STEPS: tuple[tuple[str, str, Callable[[bool], tuple[bool, str]]], ...] = (
    ("name", "Name the site", _name),
    ("sources", "Bring the sources in", _sources),
    ("sections", "Say what the sections are for", _sections),
    ("concepts", "Choose the concepts", _concepts),
    ("safety", "Read the safety replies", _safety),
    ("questions", "Judge twenty questions", _questions),
)
