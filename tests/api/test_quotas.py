"""Quotas: exact under concurrency, by key or by address, and an address only as far as it can be believed."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest
from django.conf import LazySettings
from django.http import HttpResponse
from django.test import Client, RequestFactory

from inform_site.api import access
from inform_site.clients import addresses, keys, quotas, tasks
from inform_site.clients.addresses import Proxies, read_proxies
from inform_site.clients.keys import Made
from inform_site.clients.limits import Limits, read_limits
from inform_site.clients.models import QuotaCounter
from tests.api.conftest import NOON, V1, body, get, post, problem
from tests.doubles.model_server import serving
from tests.qa.conftest import ASKED

MakeKey = Callable[..., Made]
COLLECTIONS = f"{V1}collections"
TWENTY = Limits(1_000, 20)


@pytest.fixture
def few_reads(settings: LazySettings, at_noon: None) -> None:
    settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"read": Limits(3, 5)}
    settings.KEY_QUOTAS = settings.KEY_QUOTAS | {"read": Limits(4, 10)}


@pytest.mark.django_db
def test_a_minute_and_a_day_are_counted_and_start_anew() -> None:
    allowed = Limits(2, 3)

    def take(now: datetime) -> tuple[int, int, int]:
        taken = quotas.take("one", "read", allowed, now=now)
        return taken.wait_seconds, taken.left_in_minute, taken.left_in_day

    assert [take(NOON) for _ in range(3)] == [(0, 1, 2), (0, 0, 1), (40, 0, 1)]
    next_minute = NOON + timedelta(minutes=1)
    assert take(next_minute) == (0, 1, 0)
    assert take(next_minute)[0] == 12 * 3600 - 60 - 20  # until midnight
    assert QuotaCounter.objects.get().used_in_day == 3  # what is refused costs nothing
    assert take(NOON + timedelta(days=1)) == (0, 1, 2)
    for client, quota in (("one", "ask"), ("two", "read")):
        assert quotas.take(client, quota, allowed, now=NOON).left_in_day == 2


@pytest.mark.django_db
def test_a_late_clock_opens_nothing_a_wrong_one_locks_nobody_out_and_old_counters_go() -> None:
    quotas.take("old", "read", TWENTY, now=NOON - timedelta(days=2))
    quotas.take("new", "read", Limits(1, 1), now=NOON)

    assert quotas.take("new", "read", Limits(1, 1), now=NOON - timedelta(minutes=1)).wait_seconds > 0
    quotas.take("ahead", "read", Limits(1, 1), now=NOON + timedelta(hours=30))
    assert quotas.take("ahead", "read", Limits(1, 1), now=NOON).wait_seconds == 0
    assert quotas.prune(now=NOON) == 1
    assert QuotaCounter.objects.get(client="new").minute == NOON.replace(second=0)
    tasks.prune_counters()
    assert not QuotaCounter.objects.exists()


def test_limits_and_proxies_are_read_or_refused() -> None:
    read = [read_limits(text) for text in ("20/minute, 500/day", " 5/minute ", "0/minute,0/day")]

    assert read == [Limits(20, 500), Limits(5, 7_200), Limits(0, 0)]
    for text in ("20", "many/minute", "20/hour", "-1/minute", "20/minute, 5", "1" * 20 + "/minute"):
        with pytest.raises(ValueError, match="is not like"):
            read_limits(text)
    for text in ("many", "-1", "10.0.0.1/8", "10.0.0.0/40", "1000"):
        with pytest.raises(ValueError, match=r".+"):
            read_proxies(text)


@pytest.mark.django_db
def test_what_is_left_and_when_to_come_again_is_told(few_reads: None) -> None:
    first, *_, refused = (get(COLLECTIONS) for _ in range(4))

    assert first["RateLimit-Policy"] == '"read-minute";q=3;w=60, "read-day";q=5;w=86400'
    assert first["RateLimit"] == f'"read-minute";r=2;t=40, "read-day";r=4;t={12 * 3600 - 20}'
    assert "40 seconds" in problem(refused, 429, "quota-used-up")["detail"]
    assert refused["Retry-After"] == "40"
    assert '"read-minute";r=0' in refused["RateLimit"]
    for uncounted in ("health", "schema"):
        assert get(f"{V1}{uncounted}").status_code == 200


@pytest.mark.django_db
def test_each_key_has_a_quota_of_its_own(few_reads: None, make_key: MakeKey) -> None:
    first, second = make_key(), make_key()

    assert [get(COLLECTIONS, first.secret).status_code for _ in range(5)] == [200] * 4 + [429]
    assert get(COLLECTIONS, second.secret).status_code == 200
    assert get(COLLECTIONS).status_code == 200
    rotated = keys.rotate(first.key, now=NOON)
    assert get(COLLECTIONS, rotated.secret).status_code == 429


@pytest.mark.django_db
def test_forged_addresses_give_nothing_extra(settings: LazySettings, at_noon: None, rf: RequestFactory) -> None:
    settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"read": TWENTY}

    through_the_site = [get(COLLECTIONS, **_forged(n)).status_code for n in range(15)]
    counted = [access.seconds_to_wait(rf.get("/", headers=_forged(n)), "read") for n in range(15, 300)]

    assert Counter(through_the_site) == {200: 15}
    assert [wait == 0 for wait in counted] == [True] * 5 + [False] * 280


def _forged(n: int) -> dict[str, str]:
    address = f"10.{n // 250}.{n % 250}.7"
    return {"X-Forwarded-For": f"{address}, 2001:db8:{n:x}::1", "X-Real-IP": address, "Forwarded": f"for={address}"}


def test_page_and_api_share_a_visitors_quota(settings: LazySettings, at_noon: None, library: tuple[str, ...]) -> None:
    settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"ask": Limits(3, 3)}
    question = {"question": "How many weekly sets per muscle for growth?"}

    assert [Client().get("/").status_code for _ in range(4)] == [200] * 4  # to look is not counted
    asked = Client().post("/", question)
    other = {"a": asked["Location"].strip("/").rpartition("/")[2]}
    assert (asked.status_code, post(f"{V1}answers", question).status_code) == (303, 201)
    assert Client().post("/compare/", other).status_code == 303
    refused, compared = Client().post("/", question), Client().post("/compare/", other)

    for page in (refused, compared):
        assert (page.status_code, page["Retry-After"]) == (429, str(12 * 3600 - 20))
    assert "Too many questions" in refused.content.decode()
    assert question["question"] in refused.content.decode()  # nothing that was typed is lost
    assert "again in 12 hours" in compared.content.decode()


@pytest.mark.usefixtures("library", "at_noon")
def test_a_question_streamed_then_posted_is_counted_once(settings: LazySettings) -> None:
    settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"ask": Limits(10, 10)}
    unfit = {"question": " "}

    assert post(f"{V1}answers/stream", unfit).status_code == 400
    assert Client().post("/", unfit).status_code == 400

    assert QuotaCounter.objects.get(quota="ask").used_in_day == 1


@pytest.mark.django_db
def test_a_quota_of_none_closes_what_it_is_for(settings: LazySettings, at_noon: None) -> None:
    settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"read": Limits(0, 0)}

    response = get(COLLECTIONS)

    assert "The 0 requests a day" in problem(response, 429, "quota-used-up")["detail"]
    assert response["RateLimit-Policy"] == '"read-minute";q=0;w=60, "read-day";q=0;w=86400'
    assert get(f"{V1}health").status_code == 200
    assert not QuotaCounter.objects.exists()


ONE, TWO, NETS = Proxies(count=1), Proxies(count=2), read_proxies("10.0.0.0/8, fd00::/8")
CASES = {
    "nobody before us": ("203.0.113.9", "198.51.100.1", Proxies(), "203.0.113.9"),
    "one proxy, forged before it": ("10.0.0.1", "1.2.3.4, 198.51.100.1", ONE, "198.51.100.1"),
    "two proxies": ("10.0.0.1", "1.2.3.4, 198.51.100.1, 10.0.0.2", TWO, "198.51.100.1"),
    "fewer hops than proxies": ("10.0.0.1", "198.51.100.1", TWO, "198.51.100.1"),
    "our networks": ("10.0.0.1", "1.2.3.4, 198.51.100.1, 10.9.9.9", NETS, "198.51.100.1"),
    "not from our networks": ("203.0.113.9", "198.51.100.1", NETS, "203.0.113.9"),
    "our networks all the way": ("10.0.0.1", "10.0.0.3", NETS, "10.0.0.3"),
    "rubbish": ("10.0.0.1", "198.51.100.1, rubbish", ONE, "10.0.0.1"), "nothing": ("10.0.0.1", "", ONE, "10.0.0.1"),
    "a port": ("10.0.0.1", "198.51.100.1:4711", ONE, "198.51.100.1"),
    "a zone": ("fe80::1%eth0", "", Proxies(), "fe80::1"),
    "brackets": ("10.0.0.1", "[2001:db8::1]:443", ONE, "2001:db8::1"),
    "a socket": ("", "198.51.100.1", ONE, "198.51.100.1"),
    "mapped": ("::ffff:203.0.113.9", "", Proxies(), "203.0.113.9"),
}  # fmt: skip


def test_the_farthest_trusted_hop_is_the_client() -> None:
    for name, (peer, forwarded, proxies, address) in CASES.items():
        assert str(addresses.believed(peer, forwarded.split(","), proxies)) == address, name


@pytest.mark.django_db
def test_ipv6_is_one_client_by_64_bits_and_no_address_is_kept(rf: RequestFactory) -> None:
    def client(address: str) -> str:
        return addresses.client_of(rf.get("/", REMOTE_ADDR=address))

    assert client("2001:db8:1:2::1") == client("2001:db8:1:2:ffff::9") != client("2001:db8:1:3::1")
    assert client("203.0.113.9") == client("::ffff:203.0.113.9")
    assert addresses.network_of(addresses.believed("", [""], Proxies())) == "local"
    Client().get(COLLECTIONS, REMOTE_ADDR="203.0.113.77")
    assert "203.0.113.77" not in repr(list(QuotaCounter.objects.values()))
    assert len(QuotaCounter.objects.get().client) == 40


OTHER = "What is the best pizza in Naples?"


@pytest.fixture
def one_answer_by_a_model(settings: LazySettings, library: tuple[str, ...], at_noon: None) -> Iterator[None]:
    """A language model is set up, and everybody may have it write once."""
    with serving() as double:
        settings.OPENAI_MODEL, settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = "good", double.base_url, "for tests"
        settings.ANONYMOUS_QUOTAS = settings.ANONYMOUS_QUOTAS | {"model": Limits(1, 1)}
        settings.KEY_QUOTAS = settings.KEY_QUOTAS | {"model": Limits(1, 1)}
        yield


def used() -> int:
    return sum(QuotaCounter.objects.filter(quota="model").values_list("used_in_day", flat=True))


@pytest.mark.usefixtures("one_answer_by_a_model")
def test_a_model_asked_for_by_name_is_429_beyond_its_quota(make_key: Callable[..., Made]) -> None:
    asked, secret, once = {"question": ASKED, "writer": "llm"}, make_key().secret, {"Idempotency-Key": "one"}
    for unmodelled in ({"question": ASKED, "writer": "extractive"}, {"question": OTHER}, asked | {"question": ""}):
        assert post(f"{V1}answers", unmodelled).status_code in {201, 400}
    assert used() == 0

    assert body(post(f"{V1}answers", asked))["generator"]["name"] == "llm"
    refused = post(f"{V1}answers", asked)
    assert "leave out who is to write" in problem(refused, 429, "quota-used-up")["detail"]
    assert int(refused["Retry-After"]) > 0
    assert '"model-minute";r=0' in refused["RateLimit"]

    assert [post(f"{V1}answers", asked, secret, **once).status_code for _ in range(2)] == [201, 200]
    assert used() == 2


@pytest.mark.usefixtures("one_answer_by_a_model")
@pytest.mark.parametrize("address", ["/ask", "/explain-research", "/api/unified-search"])
def test_earlier_addresses_are_counted_too(address: str) -> None:
    first, second = (post(address, {"query": ASKED, "use_llm": True}) for _ in range(2))

    assert (first.status_code, used()) == (200, 1)
    require_refused(second)


@pytest.mark.usefixtures("one_answer_by_a_model")
@pytest.mark.parametrize("address", ["/api/quick-summary", "/api/detailed-answer"])
def test_parts_are_counted_too(address: str) -> None:
    request_id = body(post("/api/unified-search", {"query": ASKED, "use_llm": False}))["request_id"]
    first, second = (post(address, {"request_id": request_id, "use_llm": True}) for _ in range(2))

    assert (first.status_code, body(first)["backend"], used()) == (200, "llm", 1)
    require_refused(second)
    assert body(post(address, {"request_id": request_id}))["backend"] == "extractive"


def require_refused(response: HttpResponse) -> None:
    found = body(response)
    assert (response.status_code, found["success"], found["code"]) == (429, False, "QUOTA_USED_UP")
    assert int(response["Retry-After"]) > 0


@pytest.mark.usefixtures("one_answer_by_a_model")
def test_pages_are_counted_too() -> None:
    reader = Client()
    answered = reader.post("/", {"question": ASKED})["Location"]
    assert used() == 1

    reader.post(f"{answered}again/")
    reader.post("/compare/", {"a": answered})

    page = reader.get(reader.post("/", {"question": ASKED})["Location"]).content.decode()
    assert used() == 1
    assert "Your share of answers by the language model is used up" in page
