"""Keep the statistics of every lexeme in step with its postings, and find the best texts by words in the database."""

from django.db import migrations, models

# A transition table exists only for the statements that its trigger is for; the other branch is never planned.
COUNT = """
    CREATE FUNCTION corpus_app_count_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
        IF TG_OP <> 'DELETE' THEN
            INSERT INTO corpus_app_termstatistics (kind, lexeme, texts, total_length, max_frequency, min_length)
            SELECT {kind}, lexeme, count(*), sum(length), max(frequency), min(length) FROM added GROUP BY 1, 2;
        END IF;
        IF TG_OP <> 'INSERT' THEN
            INSERT INTO corpus_app_termstatistics (kind, lexeme, texts, total_length, max_frequency, min_length)
            SELECT {kind}, lexeme, -count(*), -sum(length), max(frequency), min(length) FROM removed GROUP BY 1, 2;
        END IF;
        RETURN NULL;
    END $$;
    CREATE TRIGGER count_added AFTER INSERT ON corpus_app_{table}
        REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION corpus_app_count_{table}();
    CREATE TRIGGER count_removed AFTER DELETE ON corpus_app_{table}
        REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION corpus_app_count_{table}();
    CREATE TRIGGER count_changed AFTER UPDATE ON corpus_app_{table}
        REFERENCING NEW TABLE AS added OLD TABLE AS removed
        FOR EACH STATEMENT EXECUTE FUNCTION corpus_app_count_{table}();
    INSERT INTO corpus_app_termstatistics (kind, lexeme, texts, total_length, max_frequency, min_length)
    SELECT {kind}, lexeme, count(*), sum(length), max(frequency), min(length) FROM corpus_app_{table} GROUP BY 1, 2;
"""
UNCOUNT = """
    DROP TRIGGER count_added ON corpus_app_{table};
    DROP TRIGGER count_removed ON corpus_app_{table};
    DROP TRIGGER count_changed ON corpus_app_{table};
    DROP FUNCTION corpus_app_count_{table}();
"""

# MaxScore (Turtle and Flood 1995; Broder et al. 2003), a term at a time. The terms come in falling order of `ceilings`,
# what each adds to a score at most; `remaining[i]` is what the terms from i on add at most.
# 1. The postings of the rarest terms are read, and the best of their texts scored in full: `threshold` is below the
#    k-th best score.
# 2. Further terms are read while their texts could reach the threshold by these and later terms alone.
# 3. The other terms only rescore: the postings of one term are read for the texts that can still reach the threshold,
#    or, where these are few, their own postings of all remaining terms.
# With `chosen`, only these texts are scored, by step 3. All texts with the k-th score are returned.
BEST = """
    CREATE FUNCTION corpus_app_best_{table}(
        lexemes text[], idfs float8[], ceilings float8[], counts bigint[], base float8, per_length float8,
        k bigint, wanted_kind text, wanted_collection text, chosen bigint[]
    ) RETURNS TABLE (id bigint, score float8) LANGUAGE plpgsql STABLE AS $$
    DECLARE
        first_postings CONSTANT bigint := 2000;
        -- Looking up a text's own postings takes as long as reading so many of a term.
        postings_per_lookup CONSTANT bigint := 20;
        growth CONSTANT bigint := 4;
        slack CONSTANT float8 := 1e-6;  -- more than the rounding of a sum
        terms CONSTANT int := coalesce(cardinality(lexemes), 0);
        remaining float8[] := array_fill(0::float8, ARRAY[terms + 1]);
        unread bigint[] := array_fill(0::bigint, ARRAY[terms + 1]);
        threshold float8 := 0;
        first int := 1;
        last int := 1;
        postings bigint;  -- read so far
        ids bigint[];
        sums float8[];
        known bigint[];  -- null while texts may be added
    BEGIN
        FOR i IN REVERSE terms..1 LOOP
            remaining[i] := remaining[i + 1] + ceilings[i];
            unread[i] := unread[i + 1] + counts[i];
        END LOOP;
        IF chosen IS NULL THEN
            WHILE last < terms AND unread[1] - unread[last + 2] <= first_postings LOOP
                last := last + 1;
            END LOOP;
        ELSE
            known := chosen;
            ids := chosen;
            sums := array_fill(0::float8, ARRAY[cardinality(chosen)]);
        END IF;

        WHILE first <= terms LOOP
            IF counts[first] > postings_per_lookup * cardinality(known) THEN
                SELECT array_agg(own.id), array_agg(own.sum) INTO ids, sums FROM (
                    SELECT a.id, a.sum + coalesce((
                        SELECT sum(
                            idfs[array_position(lexemes, p.lexeme)]
                            * p.frequency / (p.frequency + base + per_length * p.length)
                        )
                        FROM corpus_app_{table} p WHERE p.{key} = a.id AND p.lexeme = ANY(lexemes[first:])
                          AND (wanted_collection IS NULL OR p.collection_id = wanted_collection)
                    ), 0) AS sum
                    FROM unnest(ids, sums) AS a(id, sum)
                    OFFSET 0
                ) AS own WHERE own.sum >= threshold;
                EXIT;
            END IF;
            SELECT array_agg(own.id), array_agg(own.sum) INTO ids, sums FROM (
                SELECT a.id, sum(a.score) AS sum FROM (
                    SELECT k.id, k.score FROM unnest(ids, sums) AS k(id, score)
                    UNION ALL
                    SELECT posting.{key}, term.idf * frequency / (frequency + base + per_length * length)
                    FROM unnest(lexemes[first:last], idfs[first:last]) AS term(lexeme, idf)
                    CROSS JOIN LATERAL (
                        SELECT p.{key}, p.frequency, p.length FROM corpus_app_{table} p
                        WHERE p.lexeme = term.lexeme {of_kind}
                          AND (wanted_collection IS NULL OR p.collection_id = wanted_collection)
                          AND (known IS NULL OR p.{key} IN (SELECT unnest(known)))
                        OFFSET 0  -- without this fence the planner would read all postings
                    ) AS posting
                ) AS a GROUP BY a.id
            ) AS own WHERE own.sum + remaining[last + 1] >= threshold;
            EXIT WHEN last = terms;
            first := last + 1;
            IF known IS NULL AND cardinality(ids) >= k THEN
                SELECT greatest(threshold, min(full_score.sum) - slack) INTO threshold FROM (
                    SELECT a.sum + coalesce((
                        SELECT sum(
                            idfs[array_position(lexemes, p.lexeme)]
                            * p.frequency / (p.frequency + base + per_length * p.length)
                        )
                        FROM corpus_app_{table} p WHERE p.{key} = a.id AND p.lexeme = ANY(lexemes[first:])
                    ), 0) AS sum
                    FROM (
                        SELECT u.id, u.sum FROM unnest(ids, sums) AS u(id, sum) ORDER BY u.sum DESC LIMIT k + 50
                    ) AS a
                    ORDER BY 1 DESC LIMIT k
                ) AS full_score;
            END IF;
            IF known IS NULL AND remaining[first] >= threshold THEN
                postings := unread[1] - unread[first];
                WHILE last < terms AND remaining[last + 1] >= threshold
                    AND (last < first OR unread[1] - unread[last + 2] <= growth * postings) LOOP
                    last := last + 1;
                END LOOP;
                IF last < terms AND remaining[last + 1] < threshold
                    AND counts[last + 1] < unread[1] - unread[last + 1] THEN
                    last := last + 1;  -- a further term excludes most of the texts before they are stored
                END IF;
                CONTINUE;
            END IF;
            known := coalesce(ids, ARRAY[]::bigint[]);
            last := first;
        END LOOP;
        RETURN QUERY
            SELECT a.id, round(1e12::float8 * a.sum) / 1e12::float8 AS score  -- so that the order of summation decides no tie
            FROM unnest(ids, sums) AS a(id, sum) WHERE a.sum > 0
            ORDER BY score DESC FETCH FIRST coalesce(k, cardinality(ids)) ROWS WITH TIES;
    END $$;
"""
UNBEST = "DROP FUNCTION corpus_app_best_{table}"
PASSAGES = {"table": "passageterm", "kind": "'passage'", "key": "passage_id", "of_kind": ""}
TEXTS = {"table": "studytextterm", "kind": "kind", "key": "text_id", "of_kind": "AND p.kind = wanted_kind"}


def for_each_table(statement: str, reverse: str) -> list[migrations.RunSQL]:
    return [migrations.RunSQL(fill(statement, names), fill(reverse, names)) for names in (PASSAGES, TEXTS)]


def fill(statement: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        statement = statement.replace(f"{{{name}}}", value)
    return statement


class Migration(migrations.Migration):
    dependencies = [("corpus_app", "0025_encoder_choice")]

    operations = [
        migrations.CreateModel(
            name="TermStatistics",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("passage", "Passage"),
                            ("title", "Title"),
                            ("statement", "Statement"),
                            ("plain", "Plain"),
                            ("question", "Question"),
                        ],
                        max_length=20,
                    ),
                ),
                ("lexeme", models.TextField()),
                (
                    "texts",
                    models.BigIntegerField(help_text="Texts with the lexeme that were added, less those removed."),
                ),
                ("total_length", models.FloatField(help_text="The lengths of those added, less those removed.")),
                ("max_frequency", models.FloatField(help_text="The highest frequency of the lexeme among them.")),
                ("min_length", models.FloatField(help_text="The length of the shortest of them.")),
            ],
            options={
                "default_permissions": (),
                "indexes": [models.Index(fields=["lexeme", "kind"], name="statistics_by_lexeme")],
            },
        ),
        *for_each_table(COUNT, UNCOUNT),
        *for_each_table(BEST, UNBEST),
    ]
