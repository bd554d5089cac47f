"""The approximate indexes of vectors; those of an earlier release are built anew."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('corpus_app', '0028_study_words'),
    ]

    operations = [
        migrations.CreateModel(
            name='ApproximateIndex',
            fields=[
                ('name', models.CharField(help_text='Of the index in the database.', max_length=63, primary_key=True, serialize=False)),
                ('encoder', models.CharField(help_text='Of short texts: the space of their vectors.', max_length=250)),
                ('collection', models.CharField(blank=True, help_text='Empty: all collections.', max_length=60)),
                ('kind', models.CharField(blank=True, choices=[('title', 'Title'), ('statement', 'Statement'), ('plain', 'Plain'), ('question', 'Question')], help_text='Empty: passages.', max_length=20)),
                ('dimensions', models.PositiveSmallIntegerField()),
                ('vectors', models.PositiveIntegerField(help_text='When the recall was measured.')),
                ('ef_search', models.PositiveSmallIntegerField(help_text='Null: it is not built yet.', null=True)),
                ('recall', models.FloatField(help_text='The mean share of the 20 nearest texts that are found.', null=True)),
                ('measured_at', models.DateTimeField(null=True)),
            ],
            options={
                'verbose_name_plural': 'approximate indexes',
                'ordering': ['encoder', 'kind', 'collection'],
                'default_permissions': (),
            },
        ),
    ]
