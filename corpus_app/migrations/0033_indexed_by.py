"""Note which studies have all their vectors, so that a worker finds the others without reading the whole corpus."""

from django.db import migrations, models
from django.db.models.functions import Lower


class Migration(migrations.Migration):
    dependencies = [("corpus_app", "0032_ordered_postings")]

    operations = [
        migrations.AddField(
            "study",
            "indexed_by",
            models.CharField(
                max_length=250,
                blank=True,
                default="",
                editable=False,
                db_collation="C",
                help_text="Space of the vectors that no passage or short text lacks; empty: they are looked for.",
            ),
            preserve_default=False,
        ),
        migrations.AddIndex("study", models.Index(fields=["status", "indexed_by", "id"], name="study_to_index")),
        migrations.AddIndex("study", models.Index(Lower("study_id"), name="study_by_low_id")),
    ]
