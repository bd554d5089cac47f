"""Policies and passages are kept once, not in each answer. Answers that are there keep their payloads as they are.

Payloads are compressed again: numbers take more room as JSONB than as text, and what is left of a payload is soon compressed.
Two releases may have given one label to different figures: then the later one's label ends in a hash of them.
"""

import django.db.models.deletion
from django.db import migrations, models

from qa_app.answers import packing

FORWARD = """
    SET CONSTRAINTS ALL IMMEDIATE;
    WITH used AS (
        SELECT id, coalesce(nullif(left(payload ->> 'policy', 100), ''), 'unnamed') AS label, md5(policy_values::text) AS hash, policy_values
        FROM qa_app_answer
    ), kept AS (
        SELECT label, hash, min(policy_values::text)::jsonb AS figures,
               row_number() OVER (PARTITION BY label ORDER BY hash) AS place
        FROM used GROUP BY label, hash
    ), named AS (
        SELECT label, hash, figures, CASE WHEN place = 1 THEN label ELSE label || '-' || left(hash, 8) END AS own_label FROM kept
    ), stored AS (
        INSERT INTO qa_app_storedpolicy (label, "values") SELECT own_label, figures FROM named
    )
    UPDATE qa_app_answer AS answer SET policy_id = named.own_label
    FROM used JOIN named USING (label, hash) WHERE used.id = answer.id;
    SET CONSTRAINTS ALL DEFERRED;
"""
BACK = """
    SET CONSTRAINTS ALL IMMEDIATE;
    UPDATE qa_app_answer AS answer SET policy_values = policy."values"
    FROM qa_app_storedpolicy AS policy WHERE policy.label = answer.policy_id;
    SET CONSTRAINTS ALL DEFERRED;
"""


def unpack_answers(apps, schema_editor):
    """Give every payload its passages back, for the release before."""
    passages = {row.pop("digest"): row for row in apps.get_model("qa_app", "StoredPassage").objects.values()}
    answers = apps.get_model("qa_app", "Answer").objects
    for key, payload, drafts in (
        answers.filter(payload__has_key="packed").values_list("pk", "payload", "drafts").iterator()
    ):
        body = packing.unpack(payload, passages)
        answers.filter(pk=key).update(payload=body, drafts=packing.unpack_drafts(drafts, body))


class Migration(migrations.Migration):
    dependencies = [("qa_app", "0016_headline_sentences")]

    operations = [
        migrations.CreateModel(
            name="StoredPolicy",
            fields=[
                ("label", models.CharField(help_text="The preset's name and a hash of its figures.", max_length=120, primary_key=True, serialize=False)),
                ("values", models.JSONField()),
            ],
        ),
        migrations.CreateModel(
            name="StoredPassage",
            fields=[
                ("digest", models.CharField(help_text="Of all the other columns.", max_length=22, primary_key=True, serialize=False)),
                ("passage_id", models.BigIntegerField()),
                ("passage_version", models.PositiveIntegerField()),
                ("study_id", models.CharField(max_length=40)),
                ("title", models.TextField()),
                ("section", models.CharField(max_length=40)),
                ("kind", models.CharField(max_length=20)),
                ("text", models.TextField()),
            ],
        ),
        migrations.RenameField("answer", "policy", "policy_values"),
        migrations.AlterField("answer", "policy_values", models.JSONField(default=dict)),
        migrations.AddField(
            "answer",
            "policy",
            models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="qa_app.storedpolicy"),
        ),
        migrations.RunPython(migrations.RunPython.noop, unpack_answers),
        migrations.RunSQL(FORWARD, BACK),
        migrations.AlterField(
            "answer",
            "policy",
            models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="+", to="qa_app.storedpolicy"),
        ),
        migrations.RemoveField("answer", "policy_values"),
        migrations.RunSQL(
            "ALTER TABLE qa_app_answer ALTER COLUMN payload SET STORAGE EXTENDED",
            "ALTER TABLE qa_app_answer ALTER COLUMN payload SET STORAGE EXTERNAL",
        ),
    ]  # fmt: skip
