"""How the server calls the site."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import path

from inform_site import serving
from tests.asgi import posting

threads: list[int] = []


class Noting:
    """Middleware that notes which thread it works in, also before the view."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        threads.append(threading.get_ident())
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, arguments: Any, options: Any) -> None:
        threads.append(threading.get_ident())


def view(request: HttpRequest) -> HttpResponse:
    threads.append(threading.get_ident())
    return JsonResponse({"read": request.body.decode()})


waiting = threading.Barrier(3, timeout=20)
entered, may_go = threading.Event(), threading.Event()


def meeting(request: HttpRequest) -> HttpResponse:
    waiting.wait()  # until two others are here, too
    return view(request)


def lingering(request: HttpRequest) -> HttpResponse:
    entered.set()
    may_go.wait(20)
    return JsonResponse({})


urlpatterns = [
    path("admin/", admin.site.urls),
    path("here", view),
    path("meeting", meeting),
    path("lingering", lingering),
]


@pytest.fixture
def ask(settings: Any) -> Callable[..., Awaitable[Any]]:
    """Posts words to one site, whose middleware notes its threads, too."""
    threads.clear()
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, [f"{__name__}.Noting"]
    site = serving.make_site()

    async def ask(where: str = "/here", words: str = "words") -> Any:
        async with posting(site, where, words.encode()) as connection:
            return await connection.body()

    return ask


def test_each_request_has_its_own_thread(ask: Callable[..., Awaitable[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "MAX_IDLE_THREADS", 2)

    async def ask_three() -> list[Any]:
        return await asyncio.gather(*(ask("/meeting", words) for words in "abc"))

    for _ in range(2):
        threads.clear()
        assert asyncio.run(ask_three()) == [{"read": "a"}, {"read": "b"}, {"read": "c"}]
        assert len(set(threads)) == 3
    deadline = time.monotonic() + 10
    while len(alive := set(threads) & {thread.ident for thread in threading.enumerate()}) > 2:
        assert time.monotonic() < deadline
    assert len(alive) == 2


def test_beyond_the_queue_a_request_is_refused_at_once(settings: Any) -> None:
    settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, []
    settings.REQUESTS_AT_ONCE = settings.REQUESTS_WAITING = 1
    entered.clear(), may_go.clear()
    site = serving.make_site()
    served = serving.refuse_early(site, site.gate)

    async def ask(where: str) -> tuple[int, str, str]:
        async with posting(served, where, b"") as connection:
            return connection.status, connection.headers["content-type"], connection.headers.get("retry-after", "")

    async def crowd() -> list[Any]:
        first = asyncio.ensure_future(ask("/lingering"))
        while not entered.is_set():
            await asyncio.sleep(0.01)
        second = asyncio.ensure_future(ask("/lingering"))
        while not site.gate.is_full:
            await asyncio.sleep(0.01)
        refused = [await ask("/here"), await ask("/api/v1/here")]
        waited = await second  # not for ever
        may_go.set()
        return [*refused, waited, (await first)[0], (await ask("/here"))[0]]

    page, program, waited, *served_at_last = asyncio.run(crowd())
    assert page == waited == (503, "text/html; charset=utf-8", "2")
    assert program == (503, "application/problem+json", "2")
    assert served_at_last == [200, 200]


def test_a_thread_that_was_left_at_work_serves_nobody_else(ask: Callable[..., Awaitable[Any]]) -> None:
    async def give_up() -> Any:
        left = asyncio.ensure_future(ask("/lingering"))
        while not entered.is_set():
            await asyncio.sleep(0.01)
        left.cancel()
        await asyncio.wait({left}, timeout=1)
        answered = await ask()
        may_go.set()
        return answered

    entered.clear(), may_go.clear()
    assert asyncio.run(give_up()) == {"read": "words"}
