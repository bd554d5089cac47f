"""The word lists of the corpus's subject area, which an import replaces as a whole."""

from __future__ import annotations

from collections.abc import Mapping

from django.contrib.auth.models import User

from corpus_app.curation.acts import act
from corpus_app.models import CorpusLexicon


def set_lexica(lexica: Mapping[str, str], *, by: User | None, by_name: str = "") -> bool:
    """Store exactly these word lists, TOML by name; return whether any changed.

    A change raises the corpus version, because answers depend on the lists.
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
        current.record("import_lexica", changes=changes)
        return True


def current_lexica() -> dict[str, str]:
    """Return the stored word lists, TOML by name."""
    return dict(CorpusLexicon.objects.values_list("name", "content"))
