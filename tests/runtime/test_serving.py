"""How the server calls the site."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.test import override_settings
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


urlpatterns = [path("here", view)]


@override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[f"{__name__}.Noting"])
def test_a_request_stays_in_one_thread() -> None:
    threads.clear()
    site = serving.make_site()

    async def ask() -> Any:
        async with posting(site, "/here", b"words") as connection:
            return await connection.body()

    assert asyncio.run(ask()) == {"read": "words"}
    assert len(threads) == 3
    assert len(set(threads)) == 1
    assert threads[0] != threading.get_ident()


@override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[f"{__name__}.Noting"])
def test_a_thread_that_has_served_a_request_serves_another() -> None:
    threads.clear()
    site = serving.make_site()

    async def ask() -> None:
        for _ in range(3):
            async with posting(site, "/here", b"words") as connection:
                await connection.body()

    asyncio.run(ask())

    assert len(threads) == 9
    assert len(set(threads)) == 1


waiting = threading.Barrier(3, timeout=20)


def meeting(request: HttpRequest) -> HttpResponse:
    waiting.wait()  # until two others are here, too
    return view(request)


urlpatterns.append(path("meeting", meeting))


@override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[])
def test_requests_at_one_time_have_threads_of_their_own_and_few_wait_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(serving, "MAX_IDLE_THREADS", 2)
    site = serving.make_site()

    async def ask(words: str) -> Any:
        async with posting(site, "/meeting", words.encode()) as connection:
            return await connection.body()

    async def ask_three() -> list[Any]:
        return await asyncio.gather(*(ask(words) for words in ("a", "b", "c")))

    for _ in range(2):
        threads.clear()
        assert asyncio.run(ask_three()) == [{"read": "a"}, {"read": "b"}, {"read": "c"}]
        assert len(set(threads)) == 3
    assert len(site._idle) == 2


entered, may_go = threading.Event(), threading.Event()


def lingering(request: HttpRequest) -> HttpResponse:
    entered.set()
    may_go.wait(20)
    return JsonResponse({})


urlpatterns.append(path("lingering", lingering))


@override_settings(ROOT_URLCONF=__name__, MIDDLEWARE=[])
def test_a_thread_that_was_left_at_work_serves_nobody_else() -> None:
    threads.clear()
    site = serving.make_site()

    async def ask(where: str) -> Any:
        async with posting(site, where, b"words") as connection:
            return await connection.body()

    async def give_up() -> Any:
        left = asyncio.create_task(ask("/lingering"))
        while not entered.is_set():
            await asyncio.sleep(0.01)
        left.cancel()
        await asyncio.wait({left}, timeout=1)
        answered = await ask("/here")
        may_go.set()
        return answered

    assert asyncio.run(give_up()) == {"read": "words"}
