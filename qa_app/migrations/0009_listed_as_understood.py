from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('qa_app', '0008_listed_questions'),
    ]

    operations = [
        migrations.AddField(
            model_name='listing',
            name='question',
            field=models.TextField(default='', help_text='As others are shown it: of a follow-up what it was understood as.'),
            preserve_default=False,
        ),
        migrations.RunSQL(
            "UPDATE qa_app_listing SET question = a.question FROM qa_app_answer a WHERE a.id = answer_id",
            migrations.RunSQL.noop,
        ),
    ]
