"""The short texts of studies, which are written and embedded in the background where studies are there already."""

import corpus_app.models
import django.contrib.postgres.search
import django.db.models.constraints
import django.db.models.deletion
import pgvector.django.halfvec
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("corpus_app", "0010_second_edition"),
    ]

    operations = [
        migrations.CreateModel(
            name="StudyText",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("title", "Title"),
                            ("statement", "Statement"),
                            ("plain", "Plain"),
                            ("question", "Question"),
                        ],
                        max_length=20,
                    ),
                ),
                ("position", models.PositiveIntegerField(help_text="Its place among the texts of its study.")),
                ("text", models.TextField()),
                (
                    "lexemes",
                    models.GeneratedField(
                        db_persist=True,
                        expression=corpus_app.models.ShortLexemes(corpus_app.models.SearchText("text")),
                        output_field=django.contrib.postgres.search.SearchVectorField(),
                    ),
                ),
                ("index_attempts", models.PositiveSmallIntegerField(default=0, editable=False)),
                (
                    "index_error",
                    models.TextField(blank=True, editable=False, help_text="Why the text could not be indexed."),
                ),
                (
                    "finding",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="texts",
                        to="corpus_app.finding",
                    ),
                ),
                (
                    "passage",
                    models.ForeignKey(
                        blank=True,
                        help_text="The passage that a question belongs to, or that quotes the plain sentence.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="texts",
                        to="corpus_app.passage",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="texts", to="corpus_app.study"
                    ),
                ),
            ],
            options={
                "ordering": ["study", "position"],
            },
        ),
        migrations.CreateModel(
            name="StudyTextTerm",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("title", "Title"),
                            ("statement", "Statement"),
                            ("plain", "Plain"),
                            ("question", "Question"),
                        ],
                        max_length=20,
                    ),
                ),
                ("lexeme", models.TextField()),
                ("frequency", models.FloatField()),
                (
                    "length",
                    models.FloatField(help_text="The sum of the text's frequencies, repeated here for the scan."),
                ),
                (
                    "collection",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="corpus_app.collection",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to="corpus_app.study",
                    ),
                ),
                (
                    "text",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="terms",
                        to="corpus_app.studytext",
                    ),
                ),
            ],
        ),
        migrations.CreateModel(
            name="StudyTextVector",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("title", "Title"),
                            ("statement", "Statement"),
                            ("plain", "Plain"),
                            ("question", "Question"),
                        ],
                        max_length=20,
                    ),
                ),
                ("encoder", models.CharField(max_length=200)),
                ("searchable", models.BooleanField(default=False)),
                ("vector", pgvector.django.halfvec.HalfVectorField()),
                (
                    "collection",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="corpus_app.collection",
                    ),
                ),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="corpus_app.study"
                    ),
                ),
                (
                    "text",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="vectors",
                        to="corpus_app.studytext",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="studytext",
            constraint=models.UniqueConstraint(
                deferrable=django.db.models.constraints.Deferrable["DEFERRED"],
                fields=("study", "position"),
                name="study_text_position_unique",
            ),
        ),
        migrations.AddConstraint(
            model_name="studytext",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", ["title", "statement", "plain", "question"])),
                name="study_text_kind_known",
            ),
        ),
        migrations.AddIndex(
            model_name="studytextterm",
            index=models.Index(
                fields=["lexeme", "kind"],
                include=("text", "study", "collection", "frequency", "length"),
                name="text_term_by_lexeme",
            ),
        ),
        migrations.AddConstraint(
            model_name="studytextterm",
            constraint=models.UniqueConstraint(fields=("text", "lexeme"), name="text_term_once_per_text"),
        ),
        migrations.AddConstraint(
            model_name="studytextvector",
            constraint=models.UniqueConstraint(fields=("text", "encoder"), name="text_vector_once_per_encoder"),
        ),
    ]
