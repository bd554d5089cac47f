"""How phrases of word lists are found: whole words, longest first, and a small pattern language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, LexiconError, PhraseIndex, read_tables, words_of


def found(text: str, *phrases: object, **others: list[str]) -> list[str]:
    """Return the texts of the matches of a list with these phrases; a list `NAME` may be given beside, and `without`."""
    lists = {"list": {"phrases": list(phrases), "except": others.pop("without", [])}}
    lists |= {name: {"phrases": rows} for name, rows in others.items()}
    words = words_of(text)
    spans = PhraseIndex.compile([{"lists": lists}]).find(words).get("list", ())
    return [" ".join(words[start:end]) for start, end in spans]


@pytest.mark.parametrize(
    ("text", "phrase", "matches"),
    [
        ("Chest pain!", "chest pain", ["chest pain"]),
        ("chest. Pain", "chest pain", []),
        ("She fainted", "faint*", ["fainted"]),
        ("on lisinopril", "*pril", ["lisinopril"]),
        ("I just want out", "i just? want", ["i just want"]),
        ("I want out", "i just? want", ["i want"]),
        ("aged fourteen", "aged #8-17", ["aged fourteen"]),
        ("aged 18", "aged #8-17", []),
        ("1,200 kcal", "#100-1199 kcal", []),
        ("so café it is", "cafe", ["cafe"]),
        ("my lower back", "my * back", ["my lower back"]),
        ("Stop metformin", ". stop", [". stop"]),
        ("can't", "cant", ["cant"]),
    ],
)
def test_a_phrase_matches_what_the_pattern_language_says(text: str, phrase: str, matches: list[str]) -> None:
    assert found(text, phrase) == matches


def test_the_longest_phrase_wins_exceptions_are_taken_back_and_lists_can_be_named() -> None:
    assert found("heart attack symptoms", "heart", "heart attack") == ["heart attack"]
    assert found("want to die young or want to die", "want to die", without=["want to die young"]) == ["want to die"]
    assert found("my big sister and my mum", "my {kin}", kin=["mum", "big sister"]) == ["my big sister", "my mum"]
    assert PhraseIndex.compile(read_tables(LANGUAGE_FOLDER).values()).names


def test_a_pair_occurs_in_one_sentence_within_its_distance() -> None:
    pair = {"all": ["chest", "pain"], "within": 4}

    assert found("pain all over my chest", pair)
    assert not found("chest day. Then pain", pair)
    assert not found("chest a b c d e pain", pair)


@given(st.text("abc", min_size=1, max_size=4), st.text("abc", min_size=1, max_size=4), st.text("abc", max_size=2))
def test_only_whole_words_match(word: str, before: str, after: str) -> None:
    assert found(f"{before}{word}{after} x", word) == ([word] if f"{before}{word}{after}" == word else [])


@pytest.mark.parametrize(
    "lists",
    [
        {"a": {"phrases": ["Chest"]}},
        {"a": {"phrases": ["(chest|arm)"]}},
        {"a": {"phrases": ["just?"]}},
        {"a": {"phrases": [""]}},
        {"a": {"phrases": ["{b}"]}},
        {"a": {"phrases": ["{b}"]}, "b": {"phrases": ["{a}"]}},
        {"a": {"phrases": ["{b} x"]}, "b": {"phrases": ["y"], "except": ["y z"]}},
        {"a": {"phrase": ["chest"]}},
    ],
)
def test_a_list_that_cannot_be_read_is_named(lists: dict[str, object]) -> None:
    with pytest.raises(LexiconError, match=r"'a'|circle"):
        PhraseIndex.compile([{"lists": lists}])
