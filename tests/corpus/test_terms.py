"""Words of no concept: counted, offered at the desk, made aliases; and the picture of a concept's neighbours."""

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.desk import graph, terms
from corpus_app.desk.terms import Term
from corpus_app.models import ConceptAlias, ConceptRelation, ConceptRelationStudy, CorpusEvent
from tests.builders import make_concept, make_curator, make_study

OCCLUSION = "Blood flow restriction raised the quadriceps thickness of trained men."


def words_of(found: tuple[Term, ...]) -> list[str]:
    return [term.words for term in found]


def test_a_phrase_counts_once_a_passage_and_hides_its_parts() -> None:
    found = terms.find_unmapped([OCCLUSION + " " + OCCLUSION] * 4, [("Is blood flow restriction safe?", 3)], [])

    assert found[0] == Term("blood flow restriction", passages=4, asked=3)
    assert "blood flow" not in words_of(found)
    assert "restriction" not in words_of(found)


def test_what_a_concept_is_called_is_not_offered_in_any_number_or_case() -> None:
    texts = ["Drop sets and a drop set were compared. Drop setting was not."] * 5

    assert "drop sets" in words_of(terms.find_unmapped(texts, [], []))
    for name in ("Drop set", "drop sets", "DROP SETS"):
        assert not {"drop", "drop set", "drop sets"} & {*words_of(terms.find_unmapped(texts, [], [name]))}


def test_rare_and_general_words_are_left_out() -> None:
    texts = [f"Muscle thickness number{n} zeta." for n in range(2)] + ["Muscle thickness kappa."] * 60

    found = words_of(terms.find_unmapped(texts, [], []))

    assert "zeta" not in found
    assert "muscle" not in found

    texts = ["The authors reported greater satellite cell activity in random-effects analyses of studies."] * 4

    found = words_of(terms.find_unmapped(texts, [], []))

    assert found == ["satellite cell activity"]


@given(
    texts=st.lists(st.text(max_size=80), max_size=8),
    asked=st.lists(st.tuples(st.text(max_size=40), st.integers(1, 9)), max_size=4),
    names=st.lists(st.text(max_size=20), max_size=4),
)
def test_any_text_is_counted_no_name_offered(texts: list[str], asked: list[tuple[str, int]], names: list[str]) -> None:
    found = terms.find_unmapped(texts, asked, names)

    assert len(set(words_of(found))) == len(found)
    assert not {name.lower() for name in names} & set(words_of(found))
    assert all(0 <= term.passages <= len(texts) for term in found)
    assert list(found) == sorted(found, key=lambda term: (-term.weight, term.words))


@pytest.mark.django_db
def test_words_become_aliases_at_the_desk(client: Client) -> None:
    concept = make_concept("occlusion", aliases=("occlusion training",))
    make_study(texts=(OCCLUSION,) * 4)
    client.force_login(make_curator())
    address = reverse("admin:corpus_app_concept_terms")
    page = client.get(address)
    assert page.context["terms"][0] == (Term("blood flow restriction", 4, 0), "blood-flow-restriction")

    done = client.post(address, {"term": ["blood flow restriction"], "concept": concept.pk}, follow=True)

    assert "is now also known as blood flow restriction" in done.content.decode()
    assert set(concept.aliases.values_list("name", flat=True)) == {"occlusion training", "blood flow restriction"}
    assert CorpusEvent.objects.get().action == "add_concept_alias"
    assert "blood flow restriction" not in [term.words for term, _ in client.get(address).context["terms"]]


@pytest.mark.django_db
def test_words_that_cannot_be_an_alias_are_refused_with_the_others(client: Client) -> None:
    make_concept("one", aliases=("taken",))
    make_concept("two")
    client.force_login(make_curator())

    for words, concept, reason in (
        (["TAKEN", "free"], "two", "Another concept has this alias."), (["x" * 201], "two", "at most 200 characters"),
        ([], "two", "Choose words and the concept"), (["free"], "nothing\0", "Choose words and the concept"),
    ):  # fmt: skip
        posted = {"term": words, "concept": concept}
        page = client.post(reverse("admin:corpus_app_concept_terms"), posted, follow=True)
        assert reason in page.content.decode()
    assert list(ConceptAlias.objects.values_list("name", flat=True)) == ["taken"]
    page = client.get(reverse("admin:corpus_app_concept_add"), {"name": "drop sets", "concept_id": "drop-sets"})
    assert 'value="drop sets"' in page.content.decode()
    assert 'value="drop-sets"' in page.content.decode()


@pytest.mark.django_db
def test_neighbours_are_drawn_and_listed_with_the_studies_behind_them(client: Client) -> None:
    middle, near, far = make_concept("middle"), make_concept("near"), make_concept("far")
    study = make_study()
    strong = ConceptRelation.objects.create(source=near, relation="is_kind_of", target=middle)
    ConceptRelationStudy.objects.create(relation=strong, study=study)
    ConceptRelation.objects.create(source=middle, relation="affects", target=far)
    client.force_login(make_curator())

    page = " ".join(client.get(reverse("admin:corpus_app_concept_change", args=["middle"])).content.decode().split())

    assert [(n.concept, n.studies, n.is_outward) for n in graph.find_neighbours(middle)] == [
        (near, 1, False),
        (far, 0, True),
    ]
    assert page.count("<circle") == 3
    assert "is kind of middle: <a" in page
    assert "1 study</a>" in page
    assert "style=" not in page.split("concept-graph")[1].split("</ul>")[0]


def test_people_and_words_written_large_are_not_of_the_subject() -> None:
    texts = ["In 2020 Monet-Carlo and colleagues asked Schoenfeld's group about glycogen by MRI."] * 3

    found = words_of(terms.find_unmapped(texts, [], [], people=["Schoenfeld"]))

    assert found == ["glycogen", "mri"]
    asked = words_of(terms.find_unmapped(texts, [("what is monet-carlo", 3)], [], people=["Schoenfeld"]))
    assert "monet-carlo" in asked
