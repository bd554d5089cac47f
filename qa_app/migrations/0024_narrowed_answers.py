import django.contrib.postgres.fields
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("qa_app", "0023_following")]

    operations = [
        migrations.AddField(
            model_name="answer",
            name="asked_key",
            field=models.CharField(
                blank=True,
                default="",
                help_text="Hash of the question as it was asked, apart from its filters; empty in older answers.",
                max_length=64,
            ),
        ),
        migrations.AddField(
            model_name="answer",
            name="candidates",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.CharField(max_length=40),
                blank=True,
                default=list,
                help_text="The studies that may bear on the question.",
                size=None,
            ),
        ),
        migrations.AddIndex(model_name="answer", index=models.Index(fields=["asked_key"], name="answer_asked_key")),
    ]
