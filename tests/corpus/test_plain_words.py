"""Takeaways, plain sentences, questions of studies and passages, unconfirmed findings, and word lists of the subject."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from corpus_app import curation, indexing, search, sources
from corpus_app.models import CorpusEvent, Passage, PassageTerm, PassageVector, Study
from corpus_app.records import Direction, Lean, PassageKind
from corpus_app.sources import FindingDraft
from tests.builders import make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("encoder")]

STARTER = Path(__file__).resolve().parents[2] / "corpus"
TAKEAWAY = "Lifting ten sets a week builds more muscle than five."


@pytest.fixture
def study() -> Study:
    """A published study with a takeaway and a finding in plain words."""
    study = make_study(study_id="A")
    curation.revise_study("A", by=None, by_name="test", takeaway=TAKEAWAY)
    set_findings(finding())
    return study


def finding(plain: str | None = "More sets built bigger thighs.", **changes: Any) -> FindingDraft:
    fields: dict[str, Any] = {"lean": Lean.YES, "plain": plain} | changes
    return FindingDraft("ten sets", "five sets", "thickness", Direction.INCREASE, "Ten sets increased it.", **fields)


def set_findings(*drafts: FindingDraft) -> None:
    curation.set_findings("A", drafts, by=None, by_name="test")


def plain() -> list[tuple[str, str, int | None, int]]:
    return [
        (passage.text, passage.section.value, passage.finding_id, passage.version)
        for passage in search.plain_passages(["A"])
    ]


def test_takeaways_and_plain_sentences_are_versioned_passages(study: Study) -> None:
    (row,) = study.findings.all()
    before = [passage.passage_id for passage in search.plain_passages(["A"])]
    assert plain() == [(TAKEAWAY, "conclusion", None, 1), ("More sets built bigger thighs.", "results", row.pk, 1)]
    (found,) = search.findings(["A"])
    assert (found.plain, found.lean) == ("More sets built bigger thighs.", Lean.YES)

    curation.revise_study("A", by=None, by_name="test", title="Another title")
    assert {(p.heading, p.version) for p in search.plain_passages(["A"])} == {("Another title", 1)}
    set_findings(finding("More weekly sets built bigger thighs.", lean=Lean.NO))
    assert [passage.passage_id for passage in search.plain_passages(["A"])] == before
    assert [version for *_, version in plain()] == [1, 2]

    event = CorpusEvent.objects.filter(action="set_findings").first()
    assert event
    curation.restore(event.pk, by=None, by_name="test")
    (found,) = search.findings(["A"])
    assert (found.plain, found.lean) == ("More sets built bigger thighs.", Lean.YES)

    set_findings(finding(""))
    curation.revise_study("A", by=None, by_name="test", takeaway="")
    assert plain() == []
    assert not Passage.with_plain.filter(kind=PassageKind.PLAIN).exists()


def test_plain_passages_are_no_ordinary_ones(study: Study) -> None:
    indexing.index_stale()
    vector = search.encode_question("bigger thighs")

    found = {hit.passage_id for hit in search.find("bigger thighs", vector).hits}

    ids = {passage.passage_id for passage in search.plain_passages(["A"])}
    assert not ids & found
    assert not ids & set(search.passage_ids("A"))
    assert not ids & set(study.passages.values_list("pk", flat=True))
    page = search.find_study("A")
    assert page
    assert not ids & {passage.passage_id for passage in page.passages}
    assert not PassageTerm.objects.filter(passage__in=ids).exists()
    assert PassageVector.objects.filter(passage__in=ids, searchable=False).count() == len(ids)
    loaded = search.load_passages(sorted(ids))
    assert all(sentence.vector is not None for passage in loaded for sentence in passage.sentences)
    assert indexing.audit() == []
    added = curation.add_passage("A", by=None, by_name="test", text="Rest helped.", section="results")
    assert added.position == 1


def test_an_unconfirmed_finding_is_neither_handed_out_nor_quoted(study: Study) -> None:
    set_findings(finding(is_unconfirmed=True))

    assert search.findings(["A"]) == ()
    page = search.find_study("A")
    assert page
    assert page.findings == ()
    assert plain() == [(TAKEAWAY, "conclusion", None, 1)]
    set_findings(finding(None, lean=None))  # a source that says nothing of plain words or doubts
    row = study.findings.get()
    assert (row.plain, row.lean, row.is_unconfirmed) == ("More sets built bigger thighs.", "yes", True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One study of the starter corpus with its concepts."""
    (tmp_path / "in/studies").mkdir(parents=True)
    shutil.copy(STARTER / "studies/S003.json", tmp_path / "in/studies")
    named = json.loads((STARTER / "studies/S003.json").read_text("utf-8"))["concepts"]
    concepts = json.loads((STARTER / "concepts.json").read_text("utf-8"))["concepts"]
    collections = json.loads((STARTER / "concepts.json").read_text("utf-8"))["collections"]
    vocabulary = {"concepts": [c for c in concepts if c["id"] in named], "relations": [], "collections": collections}
    (tmp_path / "in/concepts.json").write_text(json.dumps(vocabulary), "utf-8")
    return tmp_path / "in"


def load(folder: Path) -> curation.ImportReport:
    report = curation.import_corpus(sources.read(folder, known=curation.known_ids()), publish=True)
    assert not report.problems
    return report


def write_lexicon(folder: Path, **texts: str) -> None:
    (folder / "lexicon").mkdir(exist_ok=True)
    for path in (folder / "lexicon").glob("*.toml"):
        path.unlink()
    for name, text in texts.items():
        (folder / f"lexicon/{name}.toml").write_text(text, "utf-8")


def test_word_lists_come_in_with_a_new_version_and_go_out_as_they_were(folder: Path, tmp_path: Path) -> None:
    write_lexicon(folder, kin='women = ["girls"]\n', lay="[words]\nbiceps = 'arms'\n")
    load(folder)
    version = search.corpus_version()
    assert search.lexicons() == {"kin": {"women": ["girls"]}, "lay": {"words": {"biceps": "arms"}}}

    write_lexicon(folder, kin='women = ["girls", "ladies"]\n')
    load(folder)

    assert search.corpus_version() == version + 1
    assert search.lexicons() == {"kin": {"women": ["girls", "ladies"]}}
    call_command("export_corpus", tmp_path / "out")
    assert (tmp_path / "out/lexicon/kin.toml").read_text("utf-8") == 'women = ["girls", "ladies"]\n'
    load(folder)
    assert search.corpus_version() == version + 1


SITE = """
name = "Garden notes"
nouns = { one = "chapter", many = "chapters" }
examples = ["When do I sow peas?"]
[concept_kinds]
plant = { label = "Plants" }
task = { role = "outcome" }
[source_kinds]
chapter = { label = "chapter", plural = "chapters" }
trial = { label = "trial bed", plural = "trial beds", strength = "low" }
[section_roles]
"When to sow" = "advice"
[languages.de]
tagline = "Aus dem Garten"
[languages.de.source_kinds]
chapter = "Kapitel"
"""


def test_a_site_file_names_the_site_and_the_roles_of_its_kinds(folder: Path, tmp_path: Path) -> None:
    (folder / "site.toml").write_text(SITE, "utf-8")
    load(folder)

    site = search.site()
    assert (site.texts.name, site.texts_in("de").tagline, site.texts_in("de").name) == (
        "Garden notes",
        "Aus dem Garten",
        "Garden notes",
    )
    assert [site.role_of(kind) for kind in ("plant", "task", "population", "weather")] == [
        "thing", "outcome", "group", "thing",
    ]  # fmt: skip
    call_command("export_corpus", tmp_path / "out")
    assert (tmp_path / "out/site.toml").read_text("utf-8") == SITE


def test_a_study_has_a_declared_kind_and_its_sections_the_declared_roles(folder: Path) -> None:
    (folder / "site.toml").write_text(SITE, "utf-8")
    path = folder / "studies/S003.json"
    study = json.loads(path.read_text("utf-8")) | {"design": "chapter"}
    names = ["When to sow", "Prices", "Methods"]
    study["passages"] = [study["passages"][0] | {"section": name} for name in names]
    path.write_text(json.dumps(study), "utf-8")
    load(folder)

    rows = Passage.objects.filter(study__study_id="S003").exclude(kind="plain").order_by("position")
    passages = [found for row in rows if (found := search.find_passage(row.pk))]
    assert [(p.section, p.own_section) for p in passages] == [
        ("practical_applications", "When to sow"), ("results", "Prices"), ("methods", ""),
    ]  # fmt: skip
    kind = passages[0].study.kind
    assert kind
    assert (kind.label, kind.strength) == ("chapter", None)

    path.write_text(json.dumps(study | {"design": "chapterr"}), "utf-8")
    (problem,) = sources.read(folder, known=curation.known_ids()).problems
    assert (problem.field, problem.reason[:40]) == ("design", "'chapterr' is no kind of source here; kn")


@pytest.mark.parametrize(("content", "field", "reason"), [
    ("nme = 'x'", "", "has no key nme; known: about,"),
    ("[concept_kinds]\nplant = { role = 'thng' }", "concept_kinds['plant'].role", "is none of condition, group,"),
    ("[source_kinds]\nthesis = { label = 'x', plural = 'y' }", "source_kinds['thesis']", "is not a name for a kind of"),
    ("[section_roles]\nPrices = 'price'", "section_roles['Prices']", "is none of advice,"),
    ("[[tips]]\ntitle = 'x'", "tips[0].text", "lacks text."),
    ("tips = 3", "tips", "is not what this key takes"),
    ("name = [", "", "is not TOML"),
    ("[units.quire]\nforms = []", "units.quire.forms", "name how the unit is written"),
    ("[units.quire]\nforms = ['a quire']", "units.quire.forms", "'a quire' is not one word of letters"),
    ("[units]\nquire = { forms = ['q'] }\nquart = { forms = ['Q'] }", "units.quart.forms", "is a form of quire, too"),
    ("[units.quire]\nforms = ['quire']\nfactor = 24", "units.quire.dimension", "say what the factor counts"),
    ("[units.quire]\nforms = ['quire']\ndimension = 'sheets'\nfactor = 0", "units.quire.factor", "above 0"),
    ("[units.quire]\nfactor = 24", "units['quire'].forms", "lacks forms"),
])  # fmt: skip
def test_a_site_file_that_is_not_sound_is_named_by_key_and_reason(
    folder: Path, content: str, field: str, reason: str
) -> None:
    (folder / "site.toml").write_text(content, "utf-8")

    corpus = sources.read(folder)

    (problem,) = corpus.problems
    assert (problem.file, problem.field) == ("site.toml", field)
    assert reason in problem.reason
    assert corpus.lexica is None
