"""Folders and servers for the tests of the runtime."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from corpus_app.models import PassageVector
from inform_site.postgres import EmbeddedPostgres
from tests.cluster import FAST
from tests.qa.conftest import encoder as encoder
from tests.qa.conftest import library as library

ServerIn = Callable[[Path], EmbeddedPostgres]


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users may pass through, unlike pytest's own: as root the server runs as another user."""
    path = Path(tempfile.mkdtemp(prefix="inform-runtime-"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def server_in() -> Iterator[ServerIn]:
    """Makes servers, which are stopped and whose shelters are removed when the test is over."""
    made: list[EmbeddedPostgres] = []

    def make(root: Path) -> EmbeddedPostgres:
        made.append(EmbeddedPostgres(root, FAST))
        return made[-1]

    yield make
    for server in made:
        if server.root.exists():
            server.stop("immediate")
        for place in {server.data.resolve().parent, server.socket_dir} - {server.root, server.root / "run"}:
            shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="session")
def shelf_root() -> Iterator[Path]:
    """The place of one cluster for all tests that leave it whole: making one takes longer than most of them."""
    path = Path(tempfile.mkdtemp(prefix="inform-runtime-"))
    path.chmod(0o755)
    yield path / "postgres"
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def server(shelf_root: Path, server_in: ServerIn) -> EmbeddedPostgres:
    """A stopped server that has run before."""
    return server_in(shelf_root)


@pytest.fixture
def new_server(folder: Path, server_in: ServerIn) -> EmbeddedPostgres:
    """A server without a cluster."""
    return server_in(folder / "postgres")


@pytest.fixture
def library_of_words(library: tuple[str, ...]) -> None:
    """The library for web processes of their own, which search it by words: they have no quick encoder."""
    PassageVector.objects.all().delete()
