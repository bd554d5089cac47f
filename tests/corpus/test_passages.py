from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus_app.passages import SectionText, content_hash, cut, cut_text, moved_works, split_sentences
from corpus_app.records import CitedWork, Section

PIECES = st.sampled_from([*'(")”…Aa\t\n .', ". ", "? ", "! ", "\n\n", "et al. ", "vs. ", "1.5 ", "P = 0.03", "[12]"])
PROSE_LIKE = st.lists(PIECES | st.text(max_size=6), max_size=40).map("".join)


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def test_a_full_stop_inside_a_sentence_does_not_end_it() -> None:
    for text in (
        "Strength rose by 2.5 kg vs. 1.0 kg in controls (P = 0.03; 95% CI 0.4 to 4.6).",
        "Smith et al. (2009) found no difference.", "Ten sets, e.g. of squats, i.e. two a day, were enough.",
        "See Fig. 2 and Eq. 3 in vol. 12, pp. 4-9, of the report by Dr. Jones and Prof. Lee.",
        "J. A. Smith and B. Jones trained approx. 20 men for 60 min. per day.",
        "They trained at 80% of 1RM. per week of training the load rose.",
        "He called it “heavy. very heavy” training.", "Rest was 90 s. [12] and shorter later.",
        "Strength rose in\ntrained men.",
        "They used SPSS (SPSS Inc., Chicago, IL) and kits of Foo Co., Ltd., London.",
    ):  # fmt: skip
        assert sentences(text) == [text]


def test_sentences_are_parted() -> None:
    for first, second in (
        ("Loads were 80% of 1RM.", " Strength rose."), ("It rose (P = 0.03).", " The rest did not."),
        ("All took vitamin D.", " The others did not."), ("He said “enough.”", " They stopped."),
        ("It rose.[12]", " It fell."), ("Strength rose.¹²", " Growth did not."),
        ("We read Smith et al.", " They agree."), ("Nothing was found.", " mRNA rose."),
        ("Nothing was found.", " 8–12RM was better."), ("A heading without a stop", "\n\nthe text below it"),
        ("Two things:", "\n- the first"), ("Strength rose.", "The men left."),
    ):  # fmt: skip
        assert sentences(first + second) == [first, second.strip()]


@given(PROSE_LIKE)
def test_spans_are_trimmed_in_order_and_cover_every_word(text: str) -> None:
    spans = split_sentences(text)

    assert all(start < end and text[start:end] == text[start:end].strip() for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    covered = {index for start, end in spans for index in range(start, end)}
    assert all(index in covered for index, char in enumerate(text) if not char.isspace())


@given(st.text())
def test_any_text_can_be_cut_and_hashed(text: str) -> None:
    split_sentences(text)

    assert len(content_hash(heading=text, text=text)) == 64


def test_long_repetitions_are_cut_like_short_ones() -> None:
    for shape in (".", ". ", ".)", "A.", "1. ", "a.1,1,", '."', "aa.Bb ", "[1]", "\n", "\n- ", "("):
        text = shape * 20_000
        assert sum(end - start for start, end in split_sentences(text)) <= len(text)


@pytest.mark.parametrize(
    ("after", "places"),
    [("It rose. It fell.", [7, 16]), ("Indeed it rose. It fell.", [14, 23]), ("It rose. It fell much.", [7, 16]),
     ("It rose. Then it fell.", [7, 21]), ("Nothing.", [])],
)  # fmt: skip
def test_cited_works_move_with_the_words_that_stay(after: str, places: list[int]) -> None:
    works = (CitedWork(7, "b1", "1"), CitedWork(16, "b2", "2"))

    assert [work.at for work in moved_works(works, "It rose. It fell.", after)] == places


def test_words_that_move_between_heading_and_text_change_the_hash() -> None:
    assert content_hash(heading="Squats", text="build legs") != content_hash(heading="Squats build", text="legs")


made_sentences = st.builds(
    lambda count, word: " ".join([word.capitalize(), *[word] * count]) + ".",
    st.integers(1, 60) | st.just(130),
    st.from_regex(r"[a-z]{2,6}", fullmatch=True),
)
paragraphs = st.lists(st.lists(made_sentences, min_size=1, max_size=6).map(" ".join), min_size=1, max_size=5)


@given(st.lists(paragraphs, min_size=1, max_size=4))
def test_passages_are_slices_of_whole_sentences_that_lose_nothing(parts: list[list[str]]) -> None:
    texts = ["\n\n".join(part) for part in parts]
    starts = [sum(len(text) + 2 for text in texts[:index]) for index in range(len(texts))]
    whole = "\n\n".join(texts)

    pieces = cut(
        [SectionText(Section.RESULTS, f"Part {start}", text, start) for text, start in zip(texts, starts, strict=True)]
    )

    assert all(whole[piece.start : piece.end] == piece.text for piece in pieces)
    assert "".join("".join(piece.text.split()) for piece in pieces) == "".join(whole.split())
    assert all(
        start <= piece.start and piece.end <= start + len(text)
        for piece in pieces
        for start, text in zip(starts, texts, strict=True)
        if piece.heading == f"Part {start}"
    )
    for piece in pieces:
        assert split_sentences(piece.text)[-1][1] == len(piece.text)
        assert len(piece.text.split()) <= 120 or len(split_sentences(piece.text)) == 1


@given(st.lists(st.integers(5, 30), min_size=8, max_size=60))
def test_a_long_section_of_usual_sentences_gives_passages_within_bounds(lengths: list[int]) -> None:
    text = " ".join(" ".join(["Word", *["word"] * (length - 1)]) + "." for length in lengths)

    assert all(40 <= len(text[start:end].split()) <= 120 for start, end in cut_text(text))


def test_passages_break_at_paragraphs_where_they_can() -> None:
    first, second = ("Strength rose in men. " * 16).strip(), ("Growth was small here. " * 16).strip()

    pieces = cut([SectionText(Section.RESULTS, "Results", f"{first}\n\n{second}")])

    assert [piece.text for piece in pieces] == [first, second]
