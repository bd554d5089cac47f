from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("qa_app", "0024_narrowed_answers"),
    ]

    operations = [
        migrations.AddField(
            model_name="corpuscalibration",
            name="bins",
            field=models.JSONField(
                default=list, help_text="Made questions by their chance that the first study answers."
            ),
        ),
    ]
