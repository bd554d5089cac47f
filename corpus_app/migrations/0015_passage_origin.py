"""Where a passage stands in its source, the works cited there, and rows of tables as passages."""

from django.db import migrations, models

# A full stop before a comma ("Inc., Chicago") ended a sentence once. The worker makes the sentences of these passages
# again.
_DROP_SENTENCES_CUT_AT_A_COMMA = r"""
    DELETE FROM corpus_app_passagesentence WHERE passage_id IN (
        SELECT id FROM corpus_app_passage WHERE text ~ '[.?!…][^[:space:][:alnum:]]{0,9}[,–-][[:space:]]'
    );
"""


class Migration(migrations.Migration):
    dependencies = [
        ("corpus_app", "0014_appraisals"),
    ]

    operations = [
        migrations.RemoveConstraint(model_name="passage", name="passage_kind_known"),
        migrations.AddField(
            model_name="passage",
            name="cited_works",
            field=models.JSONField(
                blank=True,
                default=list,
                editable=False,
                help_text="Works that the source cites here, by their place in the text; its marks are left out of the text.",
            ),
        ),
        migrations.AddField(
            model_name="passage",
            name="source_heading",
            field=models.CharField(
                blank=True,
                default="",
                help_text="The headings above it in the source, outermost first: Results > Table 4.",
                max_length=1000,
            ),
        ),
        migrations.AlterField(
            model_name="passage",
            name="kind",
            field=models.CharField(
                choices=[("summary", "Summary"), ("excerpt", "Excerpt"), ("table", "Table")],
                default="summary",
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="passage",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["summary", "excerpt", "table", "plain"])), name="passage_kind_known"
            ),
        ),
        migrations.RunSQL(_DROP_SENTENCES_CUT_AT_A_COMMA, migrations.RunSQL.noop),
    ]
