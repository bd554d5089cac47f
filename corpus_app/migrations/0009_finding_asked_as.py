import corpus_app.models
from django.db import migrations, models


class Migration(migrations.Migration):
    # The hash of a finding's words takes its questions in, too: PostgreSQL cannot change what a column is made of, so it is made
    # anew. All findings then wait for their vectors, which the worker makes within a minute.

    dependencies = [("corpus_app", "0008_values_in_words")]

    operations = [
        migrations.RemoveField(model_name="finding", name="content_hash"),
        migrations.AddField(
            model_name="finding",
            name="asked_as",
            field=models.TextField(
                blank=True,
                default="",
                help_text="How readers ask for it, one question a line, in everyday words too. Their questions are compared with these.",
            ),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="finding",
            name="content_hash",
            field=models.GeneratedField(
                db_persist=True,
                expression=corpus_app.models.WordsHash(
                    "intervention", "comparator", "outcome", "statement", models.Value("\x1f"), "asked_as"
                ),
                output_field=models.CharField(max_length=32),
            ),
        ),
        migrations.RemoveConstraint(model_name="findingvector", name="finding_vector_once_per_encoder"),
        migrations.AddField(
            model_name="findingvector",
            name="position",
            field=models.PositiveSmallIntegerField(
                default=0, help_text="0 for what it says, then its questions from 1."
            ),
        ),
        migrations.AddConstraint(
            model_name="findingvector",
            constraint=models.UniqueConstraint(
                fields=("finding", "encoder", "position"), name="finding_vector_once_per_text"
            ),
        ),
        migrations.RunSQL(migrations.RunSQL.noop, "DELETE FROM corpus_app_findingvector WHERE position > 0"),
    ]
