"""Order the postings of a lexeme by their text, and merge them in that order when the best texts are sought."""

import importlib

from django.db import migrations, models

LEXEMES_AT_ONCE = 12

# As in `0026_term_statistics`, where MaxScore is told; but postings are merged in the order of their texts, which takes
# half the time of a hash table, and the bound is only made exact where that costs less than the postings that are left.
BEST = """
    CREATE OR REPLACE FUNCTION corpus_app_best_{table}(
        lexemes text[], idfs float8[], ceilings float8[], counts bigint[], base float8, per_length float8,
        k bigint, wanted_kind text, wanted_collection text, chosen bigint[]
    ) RETURNS TABLE (id bigint, score float8) LANGUAGE plpgsql STABLE
    SET enable_hashagg = off SET enable_hashjoin = off SET enable_nestloop = off  -- so that all is merged
    AS $$
    DECLARE
        at_once CONSTANT int := {at_once};
        first_postings CONSTANT bigint := 10000;
        growth CONSTANT bigint := 8;
        -- Scoring the best in full takes as long as reading so many postings.
        postings_per_bound CONSTANT bigint := 40000;
        -- Looking up a text's own postings takes as long as reading so many of a term.
        postings_per_lookup CONSTANT bigint := 20;
        slack CONSTANT float8 := 1e-6;  -- more than the rounding of a sum
        terms CONSTANT int := coalesce(cardinality(lexemes), 0);
        remaining float8[] := array_fill(0::float8, ARRAY[terms + 1]);
        unread bigint[] := array_fill(0::bigint, ARRAY[terms + 1]);
        threshold float8 := 0;
        first int := 1;
        last int := 1;
        postings bigint;  -- read so far
        ids bigint[];  -- in ascending order
        sums float8[];
        is_closed boolean := chosen IS NOT NULL;  -- no texts are added
    BEGIN
        FOR i IN REVERSE terms..1 LOOP
            remaining[i] := remaining[i + 1] + ceilings[i];
            unread[i] := unread[i + 1] + counts[i];
        END LOOP;
        IF is_closed THEN
            SELECT array_agg(c.id ORDER BY c.id) INTO ids FROM unnest(chosen) AS c(id);
            sums := array_fill(0::float8, ARRAY[cardinality(chosen)]);
        ELSE
            WHILE last < least(terms, at_once) AND unread[1] - unread[last + 2] <= first_postings LOOP
                last := last + 1;
            END LOOP;
        END IF;

        WHILE first <= terms LOOP
            IF is_closed AND counts[first] > postings_per_lookup * cardinality(ids) THEN
                SELECT array_agg(own.id), array_agg(own.sum) INTO ids, sums FROM (
                    SELECT a.id, a.sum + {own_postings} AS sum FROM unnest(ids, sums) AS a(id, sum) OFFSET 0
                ) AS own WHERE own.sum >= threshold;
                EXIT;
            END IF;

            IF is_closed THEN
                SELECT array_agg(own.id), array_agg(own.sum) INTO ids, sums FROM (
                    SELECT a.id, a.sum + coalesce(
                        idfs[first] * p.frequency / (p.frequency + base + per_length * p.length), 0
                    ) AS sum
                    FROM (SELECT u.id, u.sum FROM unnest(ids, sums) AS u(id, sum) ORDER BY u.id) AS a
                    LEFT JOIN corpus_app_{table} AS p ON p.{key} = a.id AND p.lexeme = lexemes[first] {of_kind}
                        AND (wanted_collection IS NULL OR p.collection_id = wanted_collection)
                ) AS own WHERE own.sum + remaining[first + 1] >= threshold;
                first := first + 1;
                CONTINUE;
            END IF;

            SELECT array_agg(own.id), array_agg(own.sum) INTO ids, sums FROM (
                SELECT a.id, sum(a.score) AS sum FROM (
                    (SELECT u.id, u.score FROM unnest(ids, sums) AS u(id, score) ORDER BY u.id)
                    {postings}
                ) AS a GROUP BY a.id
            ) AS own WHERE own.sum + remaining[last + 1] >= threshold;
            EXIT WHEN last = terms;
            first := last + 1;
            IF cardinality(ids) >= k AND unread[first] > postings_per_bound THEN
                SELECT greatest(threshold, min(full_score.sum) - slack) INTO threshold FROM (
                    SELECT a.sum + {own_postings} AS sum
                    FROM (
                        SELECT u.id, u.sum FROM unnest(ids, sums) AS u(id, sum) ORDER BY u.sum DESC LIMIT k + 50
                    ) AS a
                    ORDER BY 1 DESC LIMIT k
                ) AS full_score;
            ELSIF cardinality(ids) >= k THEN
                SELECT greatest(threshold, min(best.sum) - slack) INTO threshold FROM (
                    SELECT u.sum FROM unnest(sums) AS u(sum) ORDER BY 1 DESC LIMIT k
                ) AS best;
            END IF;
            is_closed := remaining[first] < threshold;
            IF NOT is_closed THEN
                postings := unread[1] - unread[first];
                WHILE last < least(terms, first + at_once - 1) AND remaining[last + 1] >= threshold
                    AND (last < first OR unread[1] - unread[last + 2] <= growth * postings) LOOP
                    last := last + 1;
                END LOOP;
                IF last < least(terms, first + at_once - 1) AND remaining[last + 1] < threshold
                    AND counts[last + 1] < unread[1] - unread[last + 1] THEN
                    last := last + 1;  -- a further term excludes most of the texts before they are stored
                END IF;
            END IF;
        END LOOP;
        RETURN QUERY
            SELECT a.id, round(1e12::float8 * a.sum) / 1e12::float8 AS score  -- so that the order of summation decides no tie
            FROM unnest(ids, sums) AS a(id, sum) WHERE a.sum > 0
            ORDER BY score DESC FETCH FIRST coalesce(k, cardinality(ids)) ROWS WITH TIES;
    END $$;
"""
OWN_POSTINGS = """
    coalesce((
        SELECT sum(idfs[array_position(lexemes, p.lexeme)] * p.frequency / (p.frequency + base + per_length * p.length))
        FROM corpus_app_{table} AS p WHERE p.{key} = a.id AND p.lexeme = ANY(lexemes[first:])
          AND (wanted_collection IS NULL OR p.collection_id = wanted_collection)
    ), 0)
"""
POSTINGS = """
    UNION ALL (
        SELECT p.{key}, idfs[first + {n}] * p.frequency / (p.frequency + base + per_length * p.length)
        FROM corpus_app_{table} AS p
        WHERE p.lexeme = CASE WHEN first + {n} <= last THEN lexemes[first + {n}] END {of_kind}
          AND (wanted_collection IS NULL OR p.collection_id = wanted_collection)
        ORDER BY p.{key}
    )
"""


def replace_function(names: dict[str, str]) -> migrations.RunSQL:
    before = importlib.import_module("corpus_app.migrations.0026_term_statistics")
    after = BEST.replace("{own_postings}", OWN_POSTINGS).replace(
        "{postings}", "".join(POSTINGS.replace("{n}", str(n)) for n in range(LEXEMES_AT_ONCE))
    )
    return migrations.RunSQL(
        before.fill(after, names | {"at_once": str(LEXEMES_AT_ONCE)}),
        before.fill(before.BEST.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION"), names),
    )


class Migration(migrations.Migration):
    dependencies = [("corpus_app", "0031_index_batch")]

    operations = [
        migrations.RemoveIndex(model_name="passageterm", name="term_by_lexeme"),
        migrations.AddIndex(
            model_name="passageterm",
            index=models.Index(
                fields=["lexeme", "passage"], include=["collection", "frequency", "length"], name="term_by_lexeme"
            ),
        ),
        migrations.RemoveIndex(model_name="studytextterm", name="text_term_by_lexeme"),
        migrations.AddIndex(
            model_name="studytextterm",
            index=models.Index(
                fields=["lexeme", "kind", "text"],
                include=["study", "collection", "frequency", "length"],
                name="text_term_by_lexeme",
            ),
        ),
        replace_function({"table": "passageterm", "kind": "'passage'", "key": "passage_id", "of_kind": ""}),
        replace_function(
            {"table": "studytextterm", "kind": "kind", "key": "text_id", "of_kind": "AND p.kind = wanted_kind"}
        ),
    ]
