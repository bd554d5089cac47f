"""A public site as docker-compose.yml and deploy/nginx describe it: PostgreSQL over TCP, Redis, workers, beat, nginx with TLS."""

import re
import socket
import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from inform_site import __version__
from tests.runtime.deployment import Deployment, missing_programs

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing_programs()), reason=f"not installed: {', '.join(missing_programs())}"),
]
STUDY = {
    "study_id": "T-1", "title": "Lavender from cuttings", "authors": ["Example AB"], "year": 2024, "collection": "calendar",
    "design": "randomized_controlled_trial",
    "passages": [{"section": "results", "text": "Nine in ten lavender cuttings rooted in compost without peat."}],
}  # fmt: skip
QUESTION = "how deep do peas go"
PATIENCE_SECONDS = 180


@pytest.fixture(scope="module")
def deployed() -> Iterator[Deployment]:
    with tempfile.TemporaryDirectory(prefix="inform-deployed-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # as root PostgreSQL runs as another user
        deployment = Deployment(Path(folder))
        with deployment.running():
            yield deployment


@pytest.fixture
def reader(deployed: Deployment) -> Iterator[httpx2.Client]:
    """A client outside, which knows nginx alone."""
    trusted = ssl.create_default_context(cafile=str(deployed.folder / "proxy/cert.pem"))
    with httpx2.Client(base_url=f"https://localhost:{deployed.https}", verify=trusted, timeout=90) as client:
        until(lambda: client.get("/readyz").status_code == 200, deployed)
        yield client


def body(response: httpx2.Response) -> Any:
    assert response.is_success, response.text
    return response.json()


def until(is_so: Callable[[], bool], deployed: Deployment) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < deadline:
        try:
            if is_so():
                return
        except httpx2.TransportError:
            pass
        time.sleep(0.5)
    raise AssertionError(
        "\n".join(f"{name}: {deployed.said(name)[-1500:]}" for name in ("web", "worker-index", "nginx"))
    )


def test_the_proxy_speaks_present_tls_and_leads_no_program_that_sent_its_key_in_the_clear(tmp_path: Path) -> None:
    deployment = Deployment(tmp_path)
    with deployment.proxy():
        until(lambda: httpx2.get(f"http://127.0.0.1:{deployment.http}/").status_code == 301, deployment)
        for path in ("api/v1/answers", "ask", "mcp", "explain-research"):
            assert httpx2.get(f"http://127.0.0.1:{deployment.http}/{path}").status_code == 403, path
        trusted = {"cafile": str(tmp_path / "proxy/cert.pem")}
        spoken = {
            version: handshake(deployment.https, trusted, version)
            for version in (ssl.TLSVersion.TLSv1_1, ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3)
        }
        weak = (
            "AES128-SHA256",
            "AES256-GCM-SHA384",
            "ECDHE-RSA-AES128-SHA256",
            "ECDHE-RSA-AES256-SHA",
            "NULL",
            "aNULL",
        )
        assert {
            one: handshake(deployment.https, trusted, ssl.TLSVersion.TLSv1_2, one) for one in weak
        } == dict.fromkeys(weak)
    assert spoken.pop(ssl.TLSVersion.TLSv1_1) is None
    assert all(suite and re.search("GCM|POLY1305", suite) for suite in spoken.values()), spoken


def handshake(port: int, trusted: dict[str, str], version: ssl.TLSVersion, ciphers: str = "ALL") -> str | None:
    """The suite that client and server agree on, the client speaking this version alone; None where they do not."""
    context = ssl.create_default_context(**trusted)
    context.set_ciphers(f"{ciphers}:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    try:
        line = socket.create_connection(("127.0.0.1", port), 10)
        with context.wrap_socket(line, server_hostname="localhost") as spoken:
            return spoken.cipher()[0]  # type: ignore[index]
    except (ssl.SSLError, ConnectionError):
        return None


def test_a_study_is_published_found_and_answered_from_through_the_proxy(
    deployed: Deployment, reader: httpx2.Client
) -> None:
    curator = {"DJANGO_SUPERUSER_PASSWORD": "tomatoes-and-beans"}
    deployed.run(
        "python", "manage.py", "createsuperuser", "--no-input", "--username", "curator", "--email", "", **curator
    )
    deployed.run("python", "manage.py", "import_corpus", "examples/garden", "--publish")
    scopes = [part for scope in ("ask", "read", "curate") for part in ("--scope", scope)]
    made = deployed.run("python", "manage.py", "apikey", "make", "test", "--owner", "curator", *scopes)
    key = next(line for line in made.splitlines() if line.startswith("inform_"))
    reader.headers["Authorization"] = f"Bearer {key}"

    body(reader.post("/api/v1/desk/studies", json=STUDY))
    body(reader.post("/api/v1/desk/studies/T-1/publish", json={}))
    found = body(reader.get("/api/v1/search", params={"q": "lavender cuttings in peat-free compost"}))["passages"]
    assert found[0]["study_id"] == "T-1"

    def ask() -> Any:
        return body(reader.post("/api/v1/answers", json={"question": QUESTION}))

    until(lambda: ask()["outcome"] == "answered", deployed)  # once the worker has embedded all
    answer = ask()
    page = reader.get(f"/answers/{answer['id']}/")
    assert page.headers.get_list("strict-transport-security") == ["max-age=31536000; includeSubDomains; preload"]

    with reader.stream("POST", "/api/v1/answers/stream", json={"question": QUESTION}) as response:
        pieces = list(response.iter_raw())
    assert response.headers["content-type"].startswith("text/event-stream")
    assert b"event: done" in b"".join(pieces)
    assert len(pieces) > 1  # event by event: nginx holds nothing back


def test_the_proxy_leads_to_https_hides_figures_and_admits_what_the_site_does(
    deployed: Deployment, reader: httpx2.Client
) -> None:
    plain = httpx2.get(f"http://localhost:{deployed.http}/corpus/")
    assert (plain.status_code, plain.headers["location"]) == (301, "https://localhost/corpus/")
    assert reader.get("/metrics").status_code == 404
    assert reader.get("/readyz").json()["version"] == __version__
    large = b" " * 2_000_000
    assert reader.post("/api/v1/answers", content=large).status_code == 413
    assert reader.post("/api/v1/desk/imports", content=large).status_code == 401


def test_every_process_is_healthy_and_backs_up_into_the_volume(deployed: Deployment, reader: httpx2.Client) -> None:
    said = deployed.run("python", "manage.py", "backup", f"{deployed.folder}/backups", service="worker-upkeep")
    assert "restored on trial, all counts equal" in said
    assert len(list(Path(deployed.folder, "backups").glob("inform-*.tar"))) == 1
    for service, described in deployed.services.items():
        if "healthcheck" in described and service not in {"database", "redis"}:
            until(lambda service=service: deployed.is_healthy(service), deployed)  # type: ignore[misc]
    assert "Traceback" not in "".join(deployed.said(service) for service in deployed.services if service != "migrate")
