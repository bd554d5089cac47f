from __future__ import annotations

from collections.abc import Iterator

import pytest

from corpus_app import embedding
from tests.fakes import WordHashEncoder


@pytest.fixture
def encoder() -> Iterator[WordHashEncoder]:
    """A quick encoder in the place of the model."""
    with embedding.use(WordHashEncoder()) as fake:
        yield fake
