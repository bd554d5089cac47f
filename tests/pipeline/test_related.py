"""Which curated questions are offered beside an answer, a refusal, a study or a topic."""

from corpus_app.records import CuratedQuestion
from qa_app.pipeline import related
from qa_app.pipeline.concepts import ConceptIndex
from tests.pipeline.values import make_concept

INDEX = ConceptIndex.build([make_concept("creatine", rarity=3.0), make_concept("sleep", rarity=1.0)])
ASKED = "Does creatine harm sleep?"


def nearest(*rows: tuple[str, str, float], guarded: tuple[str, ...] = ()) -> list[str]:
    candidates = [CuratedQuestion(*row) for row in rows]
    found = related.nearest(candidates, ASKED, INDEX, least=0.4, is_askable=lambda text: text not in guarded)
    return [question.text for question in found]


def test_near_questions_are_offered_the_nearest_first_and_far_ones_are_not() -> None:
    assert nearest(
        ("Is a nap any good?", "A", 0.45), ("Do cold rooms help?", "B", 0.6), ("Is milk white?", "C", 0.3)
    ) == ["Do cold rooms help?", "Is a nap any good?"]  # fmt: skip


def test_what_names_the_rare_concept_asked_about_may_be_further_away() -> None:
    assert nearest(("Who should take creatine?", "A", 0.3), ("Who should sleep more?", "B", 0.3)) == [
        "Who should take creatine?"
    ]


def test_the_asked_question_is_not_offered_however_it_is_spelt() -> None:
    assert nearest(("does CREATINE harm sleep", "A", 0.99), ("Harm to sleep by creatine?", "B", 0.9)) == []


def test_the_questions_differ_and_come_from_different_studies() -> None:
    assert nearest(
        ("Will creatine build my arms?", "A", 0.7),
        ("Will creatine build the arms?", "B", 0.69),  # asks the same
        ("Is creatine cheap?", "A", 0.68),  # of the same study
        ("Do athletes use creatine?", "C", 0.5),
        ("Is creatine found in beef?", "D", 0.49),
    ) == ["Will creatine build my arms?", "Do athletes use creatine?", "Is creatine found in beef?"]
    alone = [(f"Does creatine change {word}?", "A", 0.7) for word in ("mood", "weight", "height", "speed")]
    assert len(nearest(*alone)) == len(alone), "a corpus of one study has no other"


def test_no_more_than_five_and_none_that_gets_a_fixed_reply() -> None:
    words = ("mood", "weight", "height", "speed", "taste", "voice", "grip", "skin")
    rows = [(f"Does creatine change {word}?", study, 0.7) for word, study in zip(words, "ABCDEFGH", strict=True)]

    assert len(nearest(*rows)) == related.MOST == 5
    assert "Does creatine change mood?" not in nearest(*rows, guarded=("Does creatine change mood?",))


def test_only_questions_are_offered_those_with_a_question_mark_first() -> None:
    texts = ("creatine lean mass older adults kg", "how much creatine is cheap", "How much creatine is enough?")
    rows = [CuratedQuestion(text, text[-3:], 1 - n / 5) for n, text in enumerate(texts)]

    found = related.diverse(rows, is_askable=lambda _: True)

    assert [question.text for question in found] == [texts[2], texts[1]]
    assert set(nearest(*((row.text, row.study_id, 0.9) for row in rows))) == {texts[1], texts[2]}
