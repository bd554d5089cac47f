"""A question that names a source is answered from that source, or is told that no such study is here."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from corpus_app.records import Design, Notice, Reference
from qa_app.pipeline.question.sources import find_sources

ROOT = Path(__file__).resolve().parents[2]
LISTS = tomllib.loads((ROOT / "qa_app" / "lexicon" / "sources.toml").read_text("utf-8"))


def reference(study_id: str, title: str, authors: tuple[str, ...], year: int, **more: str) -> Reference:
    design = Design(more.get("design", "meta_analysis"))
    return Reference(study_id, title, authors, year, None, more.get("doi"), more.get("pmid"), None, design, Notice.NONE)


STUDIES = (
    reference("A", "Weekly volume and growth of the upper leg: a meta-analysis of trials", ("Schoenfeld BJ", "Ogborn D"), 2017, doi="10.1000/abc.1", pmid="27433992"),
    reference("B", "How often to lift in a week", ("Schoenfeld BJ", "Ogborn D", "Krieger JW"), 2016),
    reference("C", "Lifting to the end of each set", ("Grgic J", "Schoenfeld BJ"), 2021),
    reference("D", "Eggs for breakfast in older lifters", ("Long A", "O'Brien K"), 2011),
    reference("E", "Plants or meat", ("Hevia-Larraín V", "Moriggi Junior R"), 2021, design="randomized_controlled_trial"),
    reference("F", "American College of Sports Medicine Position Stand. Bone and exercise", ("Kohrt WM",), 2004, design="position_stand"),
    reference("G", "Balance at home", ("International Society of Sports Nutrition",), 2018, design="position_stand"),
    reference("H", "Legs and arms after ninety", ("dos Santos EEP", "Kim JE"), 2019),
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "studies", "unknown"),
    [
        ("what did Schoenfeld 2017 find", ("A",), ()),
        ("schoenfeld 2017 volume", ("A",), ()),
        ("Schoenfeld (2016) frequency?", ("B",), ()),
        ("Schoenfeld and Ogborn 2017", ("A",), ()),
        ("Schoenfeld Ogborn Krieger frequency study", ("B",), ()),
        ("What does Schoenfeld's review say on sets?", ("A", "B"), ()),
        ("the meta-analysis by Grgic et al. on failure", ("C",), ()),
        ("Was Hevia-Larraín’s trial blinded?", ("E",), ()),
        ("hevia larrain 2021 plants", ("E",), ()),
        ("What did O'Brien 2011 measure?", ("D",), ()),
        ("Long 2011 on eggs", ("D",), ()),
        ("according to Long, are eggs good?", ("D",), ()),
        ("dos Santos et al 2019", ("H",), ()),
        ("Santos et al 2019", ("H",), ()),
        ("the Moriggi Junior paper", ("E",), ()),
        ("10.1000/ABC.1", ("A",), ()),
        ("https://doi.org/10.1000/abc.1.", ("A",), ()),
        ("PMID 27433992 summary please", ("A",), ()),
        ("What is the ACSM position stand on bone?", ("F",), ()),
        ("American College of Sports Medicine on bone loading", ("F",), ()),
        ("What do the ISSN guidelines say?", ("G",), ()),
        ("weekly volume and growth of the upper leg, what came out?", ("A",), ()),
        ('is "How often to lift in a weak" any good', ("B",), ()),
        ("the 2019 paper by Liu & Latham", (), ("Liu & Latham 2019",)),
        ("Do you hold the Liu and Latham review?", (), ("Liu and Latham",)),
        ("Pelland et al dose response", (), ("Pelland et al",)),
        ("Longland 2016 energy deficit", (), ("Longland 2016",)),
        ("is there anything by Tarnopolsky on dose?", (), ("Tarnopolsky",)),
        ("According to Attia, is it harmful?", (), ("Attia",)),
        ("What did Mitchell's study conclude?", (), ("Mitchell",)),
        ("Schoenfeld 2011 on hypertrophy", (), ("Schoenfeld 2011",)),
        ("Schoenfeld and Kim 2017", (), ("Schoenfeld and Kim 2017",)),
        ("Ogborn et al. 2017", (), ("Ogborn et al. 2017",)),
        ("doi:10.1136/bmj.x12?", (), ("10.1136/bmj.x12",)),
        ("PMID: 11111111", (), ("PMID: 11111111",)),
        ("the NSCA position statement on youth", (), ("NSCA",)),
        ("Grgic 2021 against Wilson 2012", ("C",), ("Wilson 2012",)),
    ],
)  # fmt: skip
def test_a_named_source_is_found_or_reported_unknown(
    question: str, studies: tuple[str, ...], unknown: tuple[str, ...]
) -> None:
    named = find_sources(question, STUDIES)

    assert (named.studies, named.unknown) == (studies, unknown)


@pytest.mark.parametrize(
    "question",
    [
        "How long should a session last?",
        "How Long should a session be, does a study say?",
        "do long sets work, any study?",
        "In 2019 guidelines changed, what is new?",
        "Since 2020, what do studies say?",
        "January 2024 plan for my mum",
        "Is Creatine safe? Does a study show it?",
        "What do Women's studies show?",
        "kim kardashian workout",
        "WHAT DO STUDIES SAY ABOUT SETS",
        "Did the 2017 review find more growth?",
        "is a trial by Monday enough",
        "Are BFR guidelines different for men?",
        "",
    ],
)
def test_a_question_without_a_source_names_none(question: str) -> None:
    assert not find_sources(
        question, (*STUDIES, reference("Z", "Creatine and BFR by Monday", ("Chen X",), 2020))
    ).is_named


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What did the review by Schoenfeld (2017) say on sets?", "What did the review say on sets?"),
        ("schoenfeld 2017 weekly sets", "weekly sets"),
        ("Morton et al., does protein help?", "does protein help?"),
        ("how many sets?", "how many sets?"),
    ],
)
def test_the_rest_is_the_question_without_the_names(question: str, rest: str) -> None:
    assert find_sources(question, STUDIES).rest == rest


@pytest.mark.parametrize("name", LISTS)
def test_each_list_has_an_example_and_a_counterexample(name: str) -> None:
    row = LISTS[name]

    assert find_sources(row["example"], STUDIES).is_named, row["example"]
    assert not find_sources(row["counterexample"], STUDIES).is_named, row["counterexample"]


def test_golden_questions_name_no_unknown_source() -> None:
    held = [json.loads(path.read_text("utf-8")) for path in sorted((ROOT / "corpus" / "studies").glob("*.json"))]
    studies = [
        reference(
            row["study_id"], row["title"], tuple(row.get("authors") or ()), row.get("year") or 0, design=row["design"]
        )
        for row in held
        if row["status"] == "published"
    ]
    lines = (ROOT / "corpus" / "golden_dev.jsonl").read_text("utf-8").splitlines()

    flagged = [question for line in lines if find_sources(question := json.loads(line)["question"], studies).unknown]

    assert flagged == []
    assert find_sources("Schoenfeld 2017", studies).studies
