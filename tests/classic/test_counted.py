"""Numbers asked for: which one a question wants, and which sentences give it."""

from __future__ import annotations

import pytest

from qa_app.classic.generation.counted import number_asked


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("how many sets a week?", "At least 10 weekly sets per muscle seem necessary."),
        ("How many weekly sets do I need?", "Single sets help, but two sets help more."),
        ("how often should I stretch", "Stretch on at least 2–3 days per week."),
        ("how much protein do I need", "About 1.6 g/kg of protein a day was enough."),
        ("grams of protein after a workout", "They advise 20 to 25 g from dairy or eggs."),
        ("how long until I lose it", "Half of the gain was gone after 4 to 12 weeks."),
        ("how many of the 49 women had it?", "Women were grouped: 41 without and 8 with."),
        ("how many of them finished?", "Of 30 people, 27 completed the programme."),
        ("what percent fewer fractures?", "High intake went with 16% fewer hip fractures."),
        ("what effect size did creatine have?", "The effect size was 0.24 for short tasks."),
        ("what effect size did it have on 1RM?", "The effect size for 1RM was 0.43."),
        ("Standardised mean differences for 1RM?", "High loads exceeded low ones (SMD 0.60)."),
        ("what was the pooled effect?", "Growth was a medium effect (g = 0.52)."),
    ],
)
def test_a_sentence_that_gives_the_number_is_known(question: str, sentence: str) -> None:
    wanted = number_asked(question)

    assert wanted is not None
    assert wanted.search(sentence)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("how many sets a week?", "The trial took 12 weeks."),
        ("how much protein do I need", "In 14 studies protein helped."),
        ("how many of the women had it?", "They trained for 16 weeks."),
        ("how often should I stretch", "Stretches are held for 10 to 30 s."),
        ("what effect size did creatine have?", "They pooled 80 effects of creatine in 17 trials."),
        ("what effect size did creatine have?", "The effect sizes were computed for all 22 studies."),
        ("what effect size did creatine have?", "They took vitamin D = 800 IU."),
    ],
)
def test_another_number_is_not_the_one_asked_for(question: str, sentence: str) -> None:
    wanted = number_asked(question)

    assert wanted is not None
    assert not wanted.search(sentence)


@pytest.mark.parametrize(
    "question",
    [
        "does creatine help women?",
        "how does protein work?",
        "is more than 1.3 g/kg/d of use?",
        "why did 5 kg more not help?",
        "was the 16% drop in fractures real?",
        "does creatine hurt after weeks of training?",
        "was the growth the same? how many people took part?",
        "",
    ],
)
def test_a_question_without_a_number_asks_for_none(question: str) -> None:
    assert number_asked(question) is None
