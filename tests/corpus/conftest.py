from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.test import Client

from corpus_app import embedding
from tests.builders import make_curator
from tests.fakes import WordHashEncoder


@pytest.fixture
def encoder() -> Iterator[WordHashEncoder]:
    """A quick encoder in the place of the model."""
    with embedding.use(WordHashEncoder()) as fake:
        yield fake


@pytest.fixture
def curator(db: None, client: Client) -> User:
    """A curator, logged in."""
    user = make_curator()
    client.force_login(user)
    return user
