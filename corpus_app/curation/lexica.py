"""The site file and the word lists of the corpus's subject area: replaced as a whole, or revised key by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import tomlkit
from django.contrib.auth.models import User

from corpus_app.curation.acts import CurationError, EditConflict, NotAllowed, act
from corpus_app.models import CorpusEvent, CorpusLexicon
from corpus_app.sources import site_hash, site_problems

SITE, SAFETY = "site", "safety"
IMPORTED, REVISED = "import_lexica", "revise_lexica"  # actions of the history
NOT_PUBLIC_ALONE = "The words of the site are public at once"


class BadSiteFile(CurationError):
    """A change that would leave a site file which no import takes."""


def set_lexica(
    lexica: Mapping[str, str], *, by: User | None, by_name: str = "", action: str = IMPORTED
) -> bool:  # fmt: skip
    """Store exactly these word lists, TOML by name; return whether any changed.

    A change raises the corpus version, because answers depend on the lists. The action REVISED keeps the lists that
    changed from being replaced by the next import.
    """
    with act(by=by, by_name=by_name) as current:
        before = current_lexica()
        if before == dict(lexica):
            return False
        CorpusLexicon.objects.exclude(name__in=lexica).delete()
        changes = {
            name: {"before": before.get(name, ""), "after": lexica.get(name, "")}
            for name in sorted(before.keys() | lexica.keys())
            if before.get(name) != lexica.get(name)
        }
        for name in changes.keys() & lexica.keys():
            CorpusLexicon.objects.update_or_create(name=name, defaults={"content": lexica[name]})
        current.is_noticeable = True
        current.record(action, changes=changes)
        return True


def import_lexica(lexica: Mapping[str, str], *, replace_revised: bool, by: User | None, by_name: str) -> list[str]:
    """Store the word lists of a folder in place of the stored ones, and return the names of those that were kept.

    A list that was revised at the desk is kept, unless `replace_revised`.
    """
    before = current_lexica()
    kept = (
        [] if replace_revised else [name for name in before if before[name] != lexica.get(name) and _is_revised(name)]
    )
    set_lexica({**lexica, **{name: before[name] for name in kept}}, by=by, by_name=by_name)
    return kept


def _is_revised(name: str) -> bool:
    events = CorpusEvent.objects.filter(action__in=(IMPORTED, REVISED), detail__changes__has_key=name)
    return events.order_by("-pk").values_list("action", flat=True).first() == REVISED


def current_lexica() -> dict[str, str]:
    """Return the stored word lists, TOML by name."""
    return dict(CorpusLexicon.objects.values_list("name", "content"))


def revise_lexicon(name: str, content: str, *, by: User | None) -> bool:
    """Store another text of one word list, as curators do at the desk; return whether it changed."""
    return set_lexica(current_lexica() | {name: content}, by=by, action=REVISED)


def revise_site(changes: Mapping[str, Any], *, seen: str | None = None, by: User | None, by_name: str = "") -> bool:
    """Set keys of the site file, and keep the rest with its comments; return whether anything changed.

    An empty value takes a key away; a table is changed key by key. `seen` is the hash of the file that was changed.
    Raises EditConflict, BadSiteFile, and NotAllowed for want of a review.
    """
    with act(by=by, by_name=by_name) as current:
        if not current.may_change_published:
            raise NotAllowed(NOT_PUBLIC_ALONE, "ask one of them.")
        stored = CorpusLexicon.objects.select_for_update().filter(name=SITE).first()
        content = stored.content if stored else ""
        if seen is not None and seen != site_hash(content):
            raise EditConflict("the settings of the site")
        document = tomlkit.parse(content)
        _merge(document, changes)
        revised = tomlkit.dumps(document)
        if revised == content:
            return False
        if problems := list(site_problems(revised)):
            raise BadSiteFile(" ".join(f"{problem.field}: {problem.reason}" for problem in problems))
        return set_lexica(current_lexica() | {SITE: revised}, by=by, by_name=by_name, action=REVISED)


def _merge(table: Any, changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if isinstance(value, Mapping):
            _merge(table.setdefault(key, tomlkit.table()), value)
            if not table[key]:
                del table[key]
        elif value in ("", [], None):
            table.pop(key, None)
        elif table.get(key) != value:
            table[key] = value
