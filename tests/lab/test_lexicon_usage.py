"""Entries of the word lists that occur in no labelled question are found."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from lab.lexicon_usage import count_usage, usage_text
from qa_app.pipeline.lexicon import Tables

TABLES: Tables = {
    "small": {
        "lists": {
            "gain": {"phrases": ["grow*", "{more} muscle"], "except": ["grow up"]},
            "more": {"phrases": ["more", "extra"]},
        },
        "generic": {"words": ["risk", "dose"]}, "nl": {"words": ["het"], "endings": ["heid"]},
        "units": {"g": ["g", "gram"]}, "numerals": {"sixty": 60}, "abbreviations": {"words": ["e.g"]},
        "examples": {"gain": {"catches": "It grew."}},
    },
    "connectives": {"lists": {"qualifies": {"phrases": [". however"]}}},
    "crisis": {"lists": {"harm": {"phrases": ["harm"]}}},
}  # fmt: skip


def hits(*questions: str, passages: tuple[str, ...] = ()) -> dict[str, int]:
    return {entry.text: n for entry, n in count_usage(TABLES, questions, passages).items() if n}


@pytest.mark.parametrize(("question", "entries"), [
    ("When I grow up", {"grow*", "grow up"}), ("extra muscle?", {"extra", "{more} muscle"}),
    ("risks of dosing", {"risk", "dose"}), ("is het een waarheid", {"het", "heid"}),
    ("5g or 9 grams, e.g. at sixty", {"g", "gram", "sixty", "e.g"}), ("however", set()),
])  # fmt: skip
def test_an_entry_counts_where_it_occurs(question: str, entries: set[str]) -> None:
    assert set(hits(question)) == entries


def test_the_report_names_what_is_unused_and_counts_safety_apart() -> None:
    lines = usage_text(count_usage(TABLES, ["more dose", "growth"])).splitlines()

    assert lines[:2] == ["small, gain: {more} muscle", "small, gain, except: grow up"]
    assert "crisis, harm: harm" not in lines
    assert [line.split()[-2:] for line in lines if line.startswith(("all", "crisis"))] == [
        ["14", "11"], ["1", "1"], ["1", "1"],
    ]  # fmt: skip


def test_the_command_prints_the_report_and_names_a_bad_line(tmp_path: Path) -> None:
    labels, out = tmp_path / "labels.jsonl", StringIO()
    labels.write_text('{"question": "How many studies are here?"}\n', "utf-8")

    call_command("measure", "lexica", str(labels), stdout=out)

    assert "about_corpus" in out.getvalue()
    labels.write_text("{", "utf-8")
    with pytest.raises(CommandError, match=r"labels\.jsonl, line 1"):
        call_command("measure", "lexica", str(labels))
