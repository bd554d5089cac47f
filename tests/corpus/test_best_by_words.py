"""The best texts by words are those of a plain full scoring, whatever is published, changed and withdrawn."""

import random
from collections import Counter

import pytest
from django.db import connection

from corpus_app import indexing, search
from corpus_app.models import Passage, PassageTerm, Study, StudyTextTerm, TermStatistics
from corpus_app.search.bm25 import K1, B
from tests.builders import make_collection, make_study

pytestmark = pytest.mark.django_db

FULL = """
    WITH own AS (SELECT * FROM corpus_app_passageterm),
    corpus AS (SELECT count(*) AS n, avg(length) AS mean FROM own WHERE lexeme = ''),
    rarity AS (
        SELECT lexeme, ln(1 + (n - count(*) + 0.5::float8) / (count(*) + 0.5::float8)) AS idf
        FROM own, corpus WHERE lexeme = ANY(%(lexemes)s) GROUP BY lexeme, n
    )
    SELECT passage_id, round(1e9::float8 * sum(idf * frequency / (frequency + %(k1)s::float8 * (1 - %(b)s::float8
        + %(b)s::float8 * length / mean)))) / 1e9::float8 AS score
    FROM own JOIN rarity USING (lexeme) JOIN corpus ON true
    WHERE (%(collection)s::text IS NULL OR collection_id = %(collection)s)
      AND (%(studies)s::text[] IS NULL OR passage_id IN (
          SELECT p.id FROM corpus_app_passage p JOIN corpus_app_study s ON s.id = p.study_id
          WHERE s.study_id = ANY(%(studies)s)))
    GROUP BY passage_id ORDER BY score DESC, passage_id
"""
WORDS = [f"w{n}x" for n in range(60)]
ODDS = [1 / (n + 1) for n in range(60)]  # as in real text: few words are in most passages, most are rare


@pytest.fixture
def dice(request: pytest.FixtureRequest) -> random.Random:
    """A random corpus in two collections, with many passages that are equal to others."""
    dice = random.Random(request.param)
    with connection.cursor() as cursor:  # in a small corpus every step is needed only if the first reads little
        cursor.execute("SELECT pg_get_functiondef('corpus_app_best_passageterm'::regproc)")
        (source,) = cursor.fetchone()
        for known, other in (("bigint := 10000", "bigint := 10"), ("bigint := 20;", "bigint := 3;")):
            assert known in source
            source = source.replace(known, dice.choice((known, other)))
        cursor.execute(source)
    diet, training = make_collection("diet"), make_collection()
    for study in range(40):
        texts = [" ".join(dice.choices(WORDS, ODDS, k=dice.choice((3, 3, 8, 30)))) for _ in range(6)]
        make_study(
            texts=(*texts, "w0x w1x w2x", "w3x w9x w9x"), collection=(training, diet)[study % 3 == 0], year=1980 + study
        )
    return dice


def assert_best(dice: random.Random) -> None:
    dates = dict(Study.objects.values_list("study_id", "year"))
    for limit in (1, 7, 50, 1000):
        lexemes = list(dict.fromkeys(dice.choices(WORDS, ODDS, k=dice.randint(1, 12))))
        for collection, year in ((None, None), ("diet", None), (None, dice.randint(1985, 2015)), ("diet", 2000)):
            studies = year and [study_id for study_id, own in dates.items() if own <= year]
            options = {"collection": collection, "studies": studies}
            with connection.cursor() as cursor:
                cursor.execute(FULL, {"lexemes": lexemes, "k1": K1, "b": B, **options})
                expected = cursor.fetchall()
            found = search.find(
                " ".join(lexemes),
                None,
                limit=limit,
                collection=collection,
                among=year and search.StudySelection((), None, year),
            )
            assert [(hit.passage_id, hit.bm25) for hit in found.hits] == [
                (pk, pytest.approx(score, abs=2e-9)) for pk, score in expected[:limit]
            ], (lexemes, limit, options)
            assert found.lexical.candidates == len(expected[:limit])


def assert_statistics() -> None:
    """Compare the statistics with the postings: counts and lengths are equal, the bounds sound."""
    rows = list(TermStatistics.objects.values_list("kind", "lexeme", "texts", "total_length"))
    counts: Counter[tuple[str, str]] = Counter()
    for kind, lexeme, texts, length in rows:
        counts[kind, lexeme] += texts
        counts[kind, f"{lexeme} length"] += length
    wanted: Counter[tuple[str, str]] = Counter()
    passages = PassageTerm.objects.values_list("lexeme", "length")
    for kind, lexeme, length in [
        *(("passage", *row) for row in passages), *StudyTextTerm.objects.values_list("kind", "lexeme", "length"),
    ]:  # fmt: skip
        wanted[kind, lexeme] += 1
        wanted[kind, f"{lexeme} length"] += length
    assert +counts == +wanted


@pytest.mark.parametrize("dice", range(3), indirect=True)
def test_the_best_passages_are_those_of_a_full_scoring_after_every_change(dice: random.Random) -> None:
    assert_best(dice)

    pks = list(Study.objects.values_list("pk", flat=True))
    Study.objects.filter(pk__in=pks[:9]).update(status="withdrawn")
    indexing.sync_states(pks[:9])
    Passage.objects.filter(study__in=pks[9:15]).update(text="w0x w5x " + " ".join(WORDS) * 9)
    indexing.sync_studies(pks[9:15])
    assert_statistics()
    assert_best(dice)

    rows = TermStatistics.objects.count()
    indexing.merge_term_statistics(least=2)
    assert TermStatistics.objects.count() < rows
    assert_statistics()
    assert_best(dice)

    Study.objects.filter(pk__in=pks[15:]).delete()
    assert_statistics()
    assert_best(dice)
