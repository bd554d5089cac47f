"""Bodies over a socket: refused before they are sent whole, and files are read only from those who may send them."""

import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from django.contrib.auth.models import User
from django.test import Client

from corpus_app.api.desk.imports import ImportsView
from corpus_app.models import ImportJob
from inform_site import body_limits
from inform_site.clients.keys import Made
from inform_site.serving import make_site
from tests.api.conftest import V1
from tests.builders import make_superuser
from tests.live import serving

pytestmark = pytest.mark.django_db(transaction=True)
IMPORTS = f"{V1}desk/imports"
JSON = "Content-Type: application/json"
CHUNKED = "Transfer-Encoding: chunked"
MEGABYTE = b"x" * 1_000_000


@pytest.fixture
def address(db: None) -> Iterator[str]:
    with serving(body_limits.limit_bodies(make_site())) as url:
        yield url


class Line:
    """A request under way, whose client has more to send."""

    def __init__(self, address: str, path: str, *headers: str) -> None:
        at = urlsplit(address)
        self.socket = socket.create_connection((str(at.hostname), int(at.port or 0)), 60)
        self.send("\r\n".join([f"POST {path} HTTP/1.1", f"Host: {at.hostname}", *headers, "", ""]).encode())

    def send(self, data: bytes) -> None:
        self.socket.sendall(data)

    def chunk(self, data: bytes) -> None:
        self.send(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def status(self) -> int:
        """Of what comes back, whatever is still to be sent."""
        with self.socket.makefile("rb") as answered:
            return int(answered.readline().split()[1])

    def close(self) -> None:
        self.socket.close()


REFUSED_BY_LENGTH = {
    f"{V1}answers": {413}, f"{V1}answers/stream": {413}, "/ask": {413}, IMPORTS: {413}, f"{V1}nothing": {404},
    "/": {400, 403},  # no form of ours either
}  # fmt: skip


def test_what_is_too_large_is_not_waited_for(address: str) -> None:
    large = "Content-Length: 600000000", "Expect: 100-continue"
    for path, statuses in REFUSED_BY_LENGTH.items():
        with closing(Line(address, path, JSON, *large)) as line:
            assert line.status() in statuses
    for path in (f"{V1}answers", f"{V1}answers/stream", "/ask", f"{V1}search"):
        with closing(Line(address, path, JSON, CHUNKED)) as line:
            line.chunk(b"x" * 70_000)  # and no end
            assert line.status() == 413


def test_no_file_is_read_before_its_key(address: str, make_key: Callable[..., Made]) -> None:
    nobody = User.objects.create_user("nobody", password=None, is_staff=True)
    others = {
        401: ["X-API-Key: nonsense", "X-None: 1"],
        403: [f"X-API-Key: {make_key('ask').secret}", f"X-API-Key: {make_key('curate', owner=nobody).secret}"],
    }

    for status, keys in others.items():
        for key in keys:
            for length in ("Content-Length: 40000000", CHUNKED):
                with closing(Line(address, IMPORTS, key, length)) as line:
                    assert line.status() == status
    assert not ImportJob.objects.exists()


def test_a_file_is_read_up_to_its_limit(
    address: str, make_key: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ImportsView, "largest_body", 5_000_000)
    key = f"Authorization: Bearer {make_key('curate', owner=make_superuser()).secret}"

    with closing(Line(address, f"{IMPORTS}?name=a.ris", key, CHUNKED)) as line:
        for _ in range(3):
            line.chunk(MEGABYTE)
        line.send(b"0\r\n\r\n")
        assert line.status() == 202
    with closing(Line(address, IMPORTS, key, CHUNKED)) as line:
        for _ in range(6):
            line.chunk(MEGABYTE)
        assert line.status() == 413

    assert len(bytes(ImportJob.objects.get().content)) == 3 * len(MEGABYTE)


DOUBTFUL = (
    (["Content-Length: 4", CHUNKED], b"0\r\n\r\n"),
    (["Content-Length: 2", "Content-Length: 46"], b"{}"),
    (["Transfer-Encoding: chunked, identity"], b"0\r\n\r\n"),
    (["Transfer-Encoding: xchunked"], b"0\r\n\r\n"),
    (["Content-Length: +2"], b"{}"),
    (["Content-Length : 2"], b"{}"),
    ([CHUNKED], b"0x2\r\n{}\r\n0\r\n\r\n"),
    ([CHUNKED], b"-1\r\n{}\r\n0\r\n\r\n"),
    (["X-None: 1\rContent-Length: 2"], b"{}"),
)


@pytest.mark.parametrize(("headers", "content"), DOUBTFUL)
def test_a_message_whose_end_is_in_doubt_is_refused_and_hides_no_second_one(
    address: str, headers: list[str], content: bytes
) -> None:
    with closing(Line(address, f"{V1}answers", JSON, *headers)) as line:
        line.send(content + b"GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n")
        line.socket.settimeout(20)
        replies, is_reset = b"", False
        try:
            while piece := line.socket.recv(65_536):
                replies += piece
        except (
            ConnectionResetError
        ):  # the server has hung up with the second message unread; the reply may be lost by that
            is_reset = True

    assert replies.startswith(b"HTTP/1.1 400 ") or (is_reset and not replies), replies
    assert replies.count(b"HTTP/1.1 ") <= 1


UPLOAD = "/admin/corpus_app/importjob/add/"
FORM = "Content-Type: multipart/form-data; boundary=x"


def cookie_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return f"Cookie: sessionid={client.cookies['sessionid'].value}"


def test_the_desk_reads_no_file_of_whoever_is_not_at_it(address: str) -> None:
    reader = cookie_of(User.objects.create_user("reader", password=None))
    for cookie in ("X-None: 1", "Cookie: sessionid=made-up", reader):
        for rest in ("Content-Length: 40000000", CHUNKED):
            with closing(Line(address, UPLOAD, FORM, cookie, rest)) as line:
                if rest == CHUNKED:
                    line.chunk(b"x" * 300_000)  # more than a form, and no end
                assert line.status() in {302, 400, 403}


def test_the_desk_waits_for_a_file_of_whoever_is_at_it(address: str) -> None:
    with closing(Line(address, UPLOAD, FORM, cookie_of(make_superuser()), "Content-Length: 1000000")) as line:
        line.socket.settimeout(0.5)
        with pytest.raises(TimeoutError):
            line.status()
        line.socket.settimeout(60)
        line.send(MEGABYTE)
        assert line.status() in {400, 403}  # it is no form of ours
