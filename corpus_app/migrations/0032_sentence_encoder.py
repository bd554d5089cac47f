from django.db import migrations, models


class Migration(migrations.Migration):
    """Find sentences without a vector of the encoder in use by an index: the worker looks for them all the time."""

    dependencies = [("corpus_app", "0031_index_batch")]

    operations = [
        migrations.AddIndex(
            model_name="passagesentence", index=models.Index(fields=["encoder"], name="sentence_encoder")
        ),
    ]
