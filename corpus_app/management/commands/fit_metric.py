"""`manage.py fit_metric`: fit the metric of short texts to the corpus's curated questions and plain sentences."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from django.core.management.base import BaseCommand, CommandError

from corpus_app import embedding
from corpus_app.embedding import metric
from corpus_app.indexing import study_texts


class Command(BaseCommand):
    help = "Fits the metric that short texts are compared in, and writes it beside the code."

    def handle(self, *args: Any, **options: Any) -> None:
        encoder = embedding.get()
        try:
            fitted = study_texts.fit_metric(encoder)
        except ValueError as error:
            raise CommandError(str(error)) from error
        digest = hashlib.sha256(fitted.matrix.astype(np.float16).tobytes()).hexdigest()[:8]
        path = metric.save(fitted, encoder.name.partition("@")[0], f"metric-{digest}")
        self.stdout.write(f"Wrote {path.name}: run `manage.py index_corpus` to embed the short texts with it.")
