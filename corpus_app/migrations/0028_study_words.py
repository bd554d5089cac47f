"""The words of published studies, and of what findings name; written at once where these are there already."""

import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.db.models.deletion
from django.db import migrations, models

import corpus_app.models
from corpus_app.indexing.study_words import PRESENT_WORDS, WRITE_WORDS


def write_words(apps, schema_editor):
    with schema_editor.connection.cursor() as cursor:
        cursor.execute(PRESENT_WORDS + WRITE_WORDS, {"studies": None})


class Migration(migrations.Migration):

    dependencies = [
        ('corpus_app', '0026_term_statistics'),
    ]

    operations = [
        migrations.CreateModel(
            name='StudyWord',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('field', models.CharField(choices=[('passage', 'Passage'), ('author', 'Author'), ('title', 'Title'), ('run', 'Run')], max_length=10)),
                ('word', models.TextField(db_collation='C')),
                ('passages', models.PositiveIntegerField(default=0, help_text='Passages that contain it; 0 outside passages.')),
                ('study', models.ForeignKey(db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name='words', to='corpus_app.study')),
            ],
            options={
                'indexes': [models.Index(fields=['word', 'field', 'study'], include=('passages',), name='study_by_word')],
                'constraints': [models.UniqueConstraint(fields=('study', 'field', 'word'), name='word_once_per_study')],
            },
        ),
        migrations.AddField(
            model_name='finding',
            name='compared_lexemes',
            field=models.GeneratedField(db_persist=True, expression=corpus_app.models.NameLexemes('intervention', 'comparator'), output_field=django.contrib.postgres.search.SearchVectorField()),
        ),
        migrations.AddField(
            model_name='finding',
            name='outcome_lexemes',
            field=models.GeneratedField(db_persist=True, expression=corpus_app.models.NameLexemes('outcome'), output_field=django.contrib.postgres.search.SearchVectorField()),
        ),
        migrations.AddIndex(
            model_name='finding',
            index=django.contrib.postgres.indexes.GinIndex(fields=['compared_lexemes'], name='finding_compared'),
        ),
        migrations.AddIndex(
            model_name='finding',
            index=django.contrib.postgres.indexes.GinIndex(fields=['outcome_lexemes'], name='finding_outcome'),
        ),
        migrations.RunPython(write_words, migrations.RunPython.noop),
    ]
