"""The second edition of the corpus: plain sentences, questions of studies and passages, findings that are not confirmed."""

import django.db.models.deletion
from django.db import migrations, models


_DROP_PLAIN_PASSAGES = """
    DELETE FROM corpus_app_passagesentence WHERE passage_id IN (SELECT id FROM corpus_app_passage WHERE kind = 'plain');
    DELETE FROM corpus_app_passagevector WHERE passage_id IN (SELECT id FROM corpus_app_passage WHERE kind = 'plain');
    DELETE FROM corpus_app_passage WHERE kind = 'plain';
    SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("corpus_app", "0009_finding_asked_as"),
    ]

    operations = [
        migrations.CreateModel(
            name="CorpusLexicon",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(max_length=60, unique=True)),
                ("content", models.TextField(help_text="TOML.")),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "verbose_name_plural": "corpus lexica",
                "ordering": ["name"],
            },
        ),
        migrations.RemoveConstraint(
            model_name="passage",
            name="passage_kind_known",
        ),
        migrations.AddField(
            model_name="finding",
            name="is_unconfirmed",
            field=models.BooleanField(
                default=False,
                help_text="Its figures stand in no passage: answers neither count nor quote it until this is taken away.",
                verbose_name="unconfirmed",
            ),
        ),
        migrations.AddField(
            model_name="finding",
            name="lean",
            field=models.CharField(
                blank=True,
                choices=[
                    ("yes", "Yes"),
                    ("no", "No"),
                    ("no_clear_difference", "No clear difference"),
                    ("mixed", "Mixed"),
                    ("unclear", "Unclear"),
                ],
                help_text="Whether the intervention clearly helped, or what was asked clearly rose. Never shown without the plain sentence.",
                max_length=30,
            ),
        ),
        migrations.AddField(
            model_name="finding",
            name="plain",
            field=models.TextField(
                blank=True,
                help_text="The finding in one sentence of plain words, as it answers a reader’s question. It is quoted in answers.",
                verbose_name="plain sentence",
            ),
        ),
        migrations.AddField(
            model_name="passage",
            name="asked_as",
            field=models.TextField(
                blank=True,
                help_text="Questions that this passage answers, one a line. Readers’ questions are compared with these.",
            ),
        ),
        migrations.AddField(
            model_name="passage",
            name="finding",
            field=models.ForeignKey(
                blank=True,
                editable=False,
                help_text="Of a plain sentence: the finding that it tells.",
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="corpus_app.finding",
            ),
        ),
        migrations.AddField(
            model_name="passagesentence",
            name="role",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Background, objective, method, result or conclusion; empty: unknown.",
                max_length=20,
            ),
        ),
        migrations.AddField(
            model_name="passagesentence",
            name="self_containedness",
            field=models.FloatField(
                blank=True,
                help_text="From 0 to 1: how well the sentence is understood by itself; empty: unknown.",
                null=True,
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="asked_as",
            field=models.TextField(
                blank=True,
                help_text="Questions that the study as a whole answers, one a line. Readers’ questions are compared with these.",
            ),
        ),
        migrations.AddField(
            model_name="study",
            name="takeaway",
            field=models.TextField(
                blank=True,
                help_text="What the study as a whole tells a reader: a sentence or two of plain words, quoted in answers.",
            ),
        ),
        migrations.AddConstraint(
            model_name="finding",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("lean", ""),
                    ("lean__in", ["yes", "no", "no_clear_difference", "mixed", "unclear"]),
                    _connector="OR",
                ),
                name="finding_lean_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="passage",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["summary", "excerpt", "plain"])), name="passage_kind_known"
            ),
        ),
        migrations.AddConstraint(
            model_name="passage",
            constraint=models.CheckConstraint(
                condition=models.Q(("finding__isnull", True), ("kind", "plain"), _connector="OR"),
                name="passage_of_finding_is_plain",
            ),
        ),
        migrations.RunSQL(migrations.RunSQL.noop, _DROP_PLAIN_PASSAGES),
    ]
