"""The start at the desk, apart from its pages (tests/browser/test_start.py)."""

import tomllib
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from corpus_app import curation, roles, search, sources
from corpus_app.curation import history
from corpus_app.models import CorpusEvent
from corpus_app.records import SectionRole
from inform_site.start.sections import WORDS, guess_role
from tests.builders import declare_site, make_curator


@pytest.mark.parametrize(("role", "row"), tomllib.loads(WORDS.read_text("utf-8")).items())
def test_a_section_is_guessed_by_the_words_of_its_name(role: str, row: dict[str, str]) -> None:
    assert guess_role(row["example"]) == role
    assert guess_role(row["counterexample"]) is SectionRole.FINDING


@pytest.mark.django_db
def test_a_change_of_the_site_file_keeps_the_rest_and_is_put_back() -> None:
    declare_site('# Ours\nname = "Herbs" # short\n\n[languages.de]\ntagline = "Fragen"\n')
    ada, seen = make_curator("ada"), search.site_hash()

    assert curation.revise_site({"tagline": "Ask", "nouns": {"one": "page", "many": "pages"}}, seen=seen, by=ada)

    revised = curation.current_lexica()["site"]
    assert revised.startswith('# Ours\nname = "Herbs" # short\ntagline = "Ask"\n\n[languages.de]')
    assert search.site().nouns is not None
    assert not curation.revise_site({"tagline": "Ask", "footer": ""}, by=ada)
    with pytest.raises(curation.EditConflict):
        curation.revise_site({"name": "Else"}, seen=seen, by=ada)
    with pytest.raises(curation.BadSiteFile, match="nme"):
        curation.revise_site({"nme": "x"}, by=ada)
    history.restore(CorpusEvent.objects.get(action="revise_lexica").pk, by=ada)
    assert search.site_hash() == seen


@pytest.mark.django_db
def test_an_import_keeps_what_was_changed_at_the_desk_unless_told_otherwise(tmp_path: Path) -> None:
    def import_site(text: str, **options: bool) -> tuple[str, tuple[str, ...]]:
        (tmp_path / "site.toml").write_text(text)
        report = curation.import_corpus(sources.read(tmp_path), **options)
        return curation.current_lexica()["site"], report.notes

    (tmp_path / "studies").mkdir()
    assert import_site('name = "Herbs"') == ('name = "Herbs"', ())
    assert import_site('name = "More herbs"') == ('name = "More herbs"', ())
    curation.revise_site({"tagline": "Ask"}, by=make_curator("ada"))

    kept, notes = import_site('name = "Herbs"')
    assert "More herbs" in kept
    assert "site.toml was changed at the desk" in notes[0]
    assert import_site('name = "Herbs"', replace_settings=True) == ('name = "Herbs"', ())


@pytest.mark.django_db
def test_only_those_who_may_publish_are_led(client: Client) -> None:
    for role, status in ((roles.READERS, 403), (roles.CURATORS, 200)):
        client.force_login(make_curator(role.replace(" ", ""), role=role))
        assert client.get(reverse("admin:start")).status_code == status
        assert (reverse("admin:start_name") in client.get(reverse("admin:index")).content.decode()) is (status == 200)
