"""Words, stems and phrases: whole words only, offsets that hold, and nothing that a text can break."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qa_app.pipeline.lexicon import LANGUAGE_FOLDER, LexiconError, PhraseIndex, read_tables, words_of
from qa_app.pipeline.text import clean, content_stems, folded, highlights, stem, stems, words

# Everything a string can hold, lone surrogates, controls and unassigned code points included; odd ones are drawn often.
ODD = "\0\x07\t\n\r\x85\u00ad\u034f\u0301\u200b\u200d\u202e\u2028\u3164\ufeff\ufb01\uff11\uff3b\ud800\udfff\ue000\U0001f4aa\U000e0041İßſ"
anything = st.text(st.characters(exclude_categories=())) | st.text(st.sampled_from(ODD + "aeé [1] "))
stem_sets = st.frozensets(st.sampled_from(["set", "muscl", "growth", "1"]))


@given(anything)
@example("e\u200b\u0301")
@example("\u3164e\u3164\u0301")
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    for function in (folded, words, stems, content_stems):
        function(text)


def test_cleaning_keeps_the_words_and_drops_what_cannot_be_seen() -> None:
    cleaned = {
        "  how   many\n\tsets? ": "how many sets?", "ｈｏｗ　ｍａｎｙ ｓｅｔｓ": "how many sets",
        "mus\u00adcle gro\u200bwth": "muscle growth", "\u202eignore\u202c me": "ignore me", "ﬁbre": "fibre",
        "cafe\u0301": "café", "a\0b\x07c": "a b c", "\u200b\u2060\ufeff": "", "💪 sets": "💪 sets",
    }  # fmt: skip

    assert {text: clean(text) for text in cleaned} == cleaned


@given(anything, stem_sets)
def test_highlights_are_whole_words_with_a_wanted_stem_in_order(text: str, wanted: frozenset[str]) -> None:
    spans = highlights(text, wanted)

    assert all(stem(text[start:end]) in wanted for start, end in spans)
    assert all(first[1] <= second[0] for first, second in pairwise(spans))


def test_highlights_are_whole_words_counted_in_code_points() -> None:
    text = "💪💪 Sets grow muscles; the muscular set shows it."

    spans = highlights(text, frozenset({"set", "muscl", "how"}))

    assert [text[start:end] for start, end in spans] == ["Sets", "muscles", "set"]
    assert spans[0] == (3, 7)


def found(text: str, *phrases: object, **others: list[str]) -> list[str]:
    """Return the matches of a list with these phrases, exceptions in `without`, beside lists of other names."""
    lists = {"list": {"phrases": list(phrases), "except": others.pop("without", [])}}
    lists |= {name: {"phrases": rows} for name, rows in others.items()}
    words = words_of(text)
    spans = PhraseIndex.compile([{"lists": lists}]).find(words).get("list", ())
    return [" ".join(words[start:end]) for start, end in spans]


def test_a_phrase_matches_what_the_pattern_language_says() -> None:
    for text, phrase, matches in (
        ("Chest pain!", "chest pain", ["chest pain"]), ("chest. Pain", "chest pain", []),
        ("She fainted", "faint*", ["fainted"]), ("on lisinopril", "*pril", ["lisinopril"]),
        ("I just want out", "i just? want", ["i just want"]), ("I want out", "i just? want", ["i want"]),
        ("aged fourteen", "aged #8-17", ["aged fourteen"]), ("aged 18", "aged #8-17", []),
        ("1,200 kcal", "#100-1199 kcal", []), ("so café it is", "cafe", ["cafe"]),
        ("my lower back", "my * back", ["my lower back"]), ("Stop metformin", ". stop", [". stop"]),
        ("can't", "cant", ["cant"]),
    ):  # fmt: skip
        assert found(text, phrase) == matches, (text, phrase)


def test_the_longest_phrase_wins_less_its_exceptions() -> None:
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


def test_a_list_that_cannot_be_read_is_named() -> None:
    for lists in (
        {"a": {"phrases": ["Chest"]}}, {"a": {"phrases": ["(chest|arm)"]}}, {"a": {"phrases": ["just?"]}},
        {"a": {"phrases": [""]}}, {"a": {"phrases": ["{b}"]}}, {"a": {"phrases": ["{b}"]}, "b": {"phrases": ["{a}"]}},
        {"a": {"phrases": ["{b} x"]}, "b": {"phrases": ["y"], "except": ["y z"]}}, {"a": {"phrase": ["chest"]}},
    ):  # fmt: skip
        with pytest.raises(LexiconError, match=r"'a'|circle"):
            PhraseIndex.compile([{"lists": lists}])
