"""Drafts: nothing of them leaves, whatever is asked by whomever, and they answer as what is not there."""

import asyncio
import io
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from django.contrib.auth.models import User
from mcp import Client as McpClient
from mcp.client.streamable_http import streamable_http_client

from corpus_app import curation, indexing, passages
from corpus_app.models import Concept, ConceptRelation, ConceptRelationStudy, Passage, Study, StudyConcept
from corpus_app.search import versions
from inform_site import assistants
from inform_site.body_limits import limit_bodies
from inform_site.clients.keys import Made
from inform_site.serving import make_site
from qa_app.answers import asking
from tests.api.conftest import V1, described, get, routes, send
from tests.builders import make_collection, make_concept, make_finding
from tests.live import serving
from tests.qa.conftest import ASKED, SETS

pytestmark = pytest.mark.django_db
CANARY = b"zyxcanary"
WORD = "marmoset"  # stands in every draft and nowhere else; it may be asked for
HOW_MANY = 9
Callers = dict[str, dict[str, str]]
STATES = ("draft", "in_review", "withdrawn")


@pytest.fixture
def answer(library: tuple[str, ...]) -> str:
    return str(asking.ask(question=ASKED)["id"])


@pytest.fixture
def drafts(answer: str) -> tuple[int, ...]:
    """Studies that nobody has published, in all states, with the canary in every field; the keys of their passages."""
    concept = make_concept("zyxcanary-concept", definition="zyxcanary", aliases=(f"zyxcanary {WORD}",))
    studies = Study.objects.bulk_create(_draft(number) for number in range(HOW_MANY))
    public = Concept.objects.get(pk="training-volume")
    named = [(study, one, place) for study in studies for place, one in enumerate((concept, public))]
    StudyConcept.objects.bulk_create(StudyConcept(study=s, concept=one, position=place) for s, one, place in named)
    relation = ConceptRelation.objects.create(source=concept, relation="affects", target=public)
    ConceptRelationStudy.objects.create(relation=relation, study=studies[0])
    text = f"{SETS} Zyxcanary {WORD} weekly sets per muscle for growth."
    Passage.objects.bulk_create(
        Passage(study=study, position=0, section="results", heading=study.title, text=text,
                content_hash=passages.content_hash(heading=study.title, text=text))
        for study in studies
    )  # fmt: skip
    for study in studies:
        indexing.sync_studies([study.pk])
    for study in studies[:3]:
        make_finding(study, statement=f"Zyxcanary {WORD}.", outcome=f"zyxcanary {WORD}")
        curation.comment(study.study_id, "zyxcanary", by=None, by_name="tests")
    curation.set_notice(
        [study.study_id for study in studies[:2]], "corrected", reason="zyxcanary", by=None, by_name="t"
    )
    return tuple(Passage.objects.filter(study__study_id__startswith="zyxcanary").values_list("pk", flat=True))


def _draft(number: int) -> Study:
    words = f"Zyxcanary {WORD}"
    return Study(
        study_id=f"zyxcanary-{number}", title=f"{words} {number}", authors=[words.upper()], journal=words, year=1999,
        doi=f"10.1000/zyxcanary.{number}", url=f"https://zyxcanary.example/{number}", population=words, design="position_stand",
        curator_notes=words, status_reason=words, licence="zyxcanary", status=STATES[number % 3], collection=make_collection(),
    )  # fmt: skip


@pytest.fixture
def callers(make_key: Callable[..., Made], db: None) -> Callers:
    """Headers of those who may not see drafts: anonymous, and a key with all scopes whose owner curates nothing."""
    nobody = User.objects.create_user("nobody", password=None, is_staff=True)
    made = {"curates nothing": make_key("ask", "read", "curate", "evaluate", owner=nobody)}
    return {"anonymous": {}} | {name: {"Authorization": f"Bearer {key.secret}"} for name, key in made.items()}


def told(response: Any) -> bytes:
    """All that a client reads: headers and body, a zip unpacked."""
    content = bytes(response.content)
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as bundle:
            content += b"".join(bundle.read(name) for name in bundle.namelist())
    return str(sorted(response.headers.items())).encode() + content


QUERIES = {
    "/api/v1/studies": ("", f"?q={WORD}", "?limit=100&sort=title", "?from=1999&to=1999", "?design=position_stand", "?sort=relevance&q=sets"),
    "/api/v1/search": (f"?q={WORD}&limit=50", f"?q={WORD}+weekly+sets+per+muscle+for+growth&limit=50"),
    "/api/v1/concepts": ("", "?limit=100", "?collection=training"),
    "/api/v1/corpus/changes": ("", "?since=0&limit=100"),
    "/corpus/": ("", f"?q={WORD}", "?from=1999&to=1999", "?design=position_stand", "?sort=title"),
    "/": ("", f"?question={WORD}"), "/compare/": ("", f"?question={WORD}"),
    "/answers/{answer_id}/export/{suffix}": ("",),
}  # fmt: skip

PAGES_APART = ("/admin/", "/api/", "/mcp")  # the desk has its own tests; programs' addresses are in the schema


def samples(answer: str, drafts: tuple[int, ...]) -> dict[str, tuple[str, ...]]:
    """What stands in an address, of drafts and of what is public."""
    public = Passage.objects.filter(study__status="published").values_list("pk", flat=True)[:1]
    return dict.fromkeys(("index", "import_id", "bulk_edit_id", "gap_id", "run_id"), ("1",)) | {
        "study_id": (*(f"zyxcanary-{n}" for n in range(3)), "T-SETS"),
        "concept_id": ("zyxcanary-concept", "training-volume"),
        "passage_id": (*map(str, drafts[:3]), *map(str, public)), "answer_id": (answer,),
        "suffix": ("ris", "bib", "csl.json", "md", "csv"), "part": ("summary", "answer"), "sentence": ("0",),
        "token": ("nobody",), "question_id": ("nobody",),
    }  # fmt: skip


def filled(path: str, values: dict[str, tuple[str, ...]]) -> Iterator[str]:
    """An address with each of its samples. Raises KeyError for a part that has none."""
    if "{" not in path:
        yield path
        return
    name = path[path.index("{") + 1 : path.index("}")]
    for value in values[name]:
        yield from filled(path.replace(f"{{{name}}}", value, 1), values)


def read_addresses() -> Iterator[str]:
    """Every GET of the schema, and every page."""
    yield from (path for path, found in described()["paths"].items() if "get" in found)
    yield from ("/api/v1/schema", "/api/v1/docs/")
    for route, view in routes().items():
        if not hasattr(view, "cls") and not route.startswith(PAGES_APART):
            yield route


ASKING = (
    dict.fromkeys(("/api/v1/answers", "/api/v1/search"), "question")
    | dict.fromkeys(("/ask", "/explain-research", "/api/unified-search"), "query")
    | {"/api/v1/claims": "text"}
)


def test_nothing_of_a_draft_is_told(answer: str, drafts: tuple[int, ...], callers: Callers) -> None:
    values = samples(answer, drafts)
    said: list[tuple[str, str, int, bytes]] = []

    for caller, headers in callers.items():
        for path in read_addresses():
            for address in filled(path, values):
                for query in QUERIES.get(path, ("",)):
                    response = send("GET", address + query, None, headers)
                    echo = address.rpartition("/")[0].encode() if "zyxcanary" in address else b"\0"
                    words = told(response).replace(address.encode(), b"").replace(echo, b"")
                    said.append((caller, address + query, response.status_code, words))
        for path, field in ASKING.items():
            asked = {field: f"How many weekly {WORD} sets per muscle for growth{'.' if field == 'text' else '?'}"}
            response = send("POST", path, None, headers, asked)
            said.append((caller, path, response.status_code, told(response)))

    assert [row[:3] for row in said if CANARY in row[3].lower() or row[2] >= 500] == []
    assert len(said) > 200


EXPORTS = ("ris", "bibtex", "csl", "md", "csv")


@pytest.mark.django_db(transaction=True)
def test_streams_files_and_assistants_tell_nothing(drafts: tuple[int, ...], callers: Callers) -> None:
    question = f"How many weekly {WORD} sets per muscle for growth?"
    said: dict[tuple[str, str], bytes] = {}

    with serving(assistants.mount_mcp(limit_bodies(make_site()))) as address:
        for caller, headers in callers.items():
            with httpx2.Client(base_url=address, headers=headers, timeout=60) as client:
                streamed = client.post(f"{V1}answers/stream", json={"question": question})
                said[caller, "stream"] = streamed.content
                made = client.post("/ask", json={"query": question})
                answer = f"{V1}answers/{made.json().get('answer_id', 'none')}"
                for path in ("", "/bundle", *(f"?format={form}" for form in EXPORTS)):
                    said[caller, path] = told(client.get(answer + path))
                for path in ("/replay", "/feedback"):
                    said[caller, path] = told(client.post(answer + path, json={}))
                said[caller, "suggested"] = told(client.get("/suggest/", params={"q": WORD}))
            said |= {
                (caller, tool): words
                for tool, words in asyncio.run(by_assistant(address, headers, question, drafts[0])).items()
            }

    assert b"event: done" in said["anonymous", "stream"]
    assert [who for who, words in said.items() if CANARY in words.lower()] == []


async def by_assistant(address: str, headers: dict[str, str], question: str, passage_id: int) -> dict[str, bytes]:
    """What each tool tells of what it should not."""
    asked: dict[str, dict[str, Any]] = {
        "ask": {"question": question}, "search": {"query": question, "limit": 50},
        "check_claims": {"text": f"Canary {WORD} sets made for the most growth."},
        "get_study": {"study_id": "zyxcanary-0"}, "get_passage": {"passage_id": passage_id}, "list_collections": {},
    }  # fmt: skip
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        McpClient(streamable_http_client(f"{address}/mcp", http_client=http)) as client,
    ):
        return {tool: repr(await client.call_tool(tool, arguments)).encode() for tool, arguments in asked.items()}


def test_counts_and_versions_are_those_without_the_drafts(answer: str, request: pytest.FixtureRequest) -> None:
    lists = (
        "studies", "concepts", "collections", "corpus/version", "corpus/changes", "studies/T-SETS", f"answers/{answer}",
        "concepts/training-volume",
    )  # fmt: skip
    pages = (
        "/corpus/", "/topics/", "/changes/", "/changes/atom.xml", "/how-it-works/", "/topics/training-volume/",
        "/studies/T-SETS/", "/suggest/?q=weekly", f"/suggest/?q={WORD}", "/corpus/?q=sets",
    )  # fmt: skip
    paths = [*(f"{V1}{path}" for path in lists), *pages]
    before = {path: _settled(get(path).content) for path in paths}

    request.getfixturevalue("drafts")
    versions.cache.clear()  # what was read for this version is read anew
    after = {path: get(path) for path in paths}

    assert Study.objects.count() > HOW_MANY
    assert {response.status_code for response in after.values()} == {200}
    assert [path for path in paths if before[path] != _settled(after[path].content)] == []


def _settled(content: bytes) -> bytes:
    """Without what differs each time."""
    return re.sub(rb'(name="csrfmiddlewaretoken" value=")[^"]*', rb"\1", content)


NAMED = ("study_id", "passage_id", "concept_id")

ALIKE = (  # what stands in no schema, or names them otherwise
    "/studies/{study_id}/", "/topics/{concept_id}/", "/api/v1/studies?topic={concept_id}", "/corpus/?topic={concept_id}",
    "/api/v1/studies/{study_id}?fields=title",
)  # fmt: skip


def alike() -> Iterator[tuple[str, str, str]]:
    """Method, path and the name in it, of everything that is asked for by an id of the corpus."""
    operations = [(method.upper(), path) for path, found in described()["paths"].items() for method in found]
    for method, path in [*operations, *(("GET", path) for path in ALIKE)]:
        yield from ((method, path, name) for name in NAMED if f"{{{name}}}" in path)


def test_a_draft_answers_as_what_is_missing(drafts: tuple[int, ...], callers: Callers) -> None:
    there = {
        "study_id": [f"zyxcanary-{n}" for n in range(3)],
        "concept_id": ["zyxcanary-concept"],
        "passage_id": [str(pk) for pk in drafts[:3]],
    }
    missing = {
        "study_id": "zyxmissin-0",
        "concept_id": "zyxmissin-concept",
        "passage_id": f"1{'0' * len(str(drafts[0]))}0",
    }
    apart = []

    for caller, headers in callers.items():
        for method, path, name in alike():
            wanted = _whole(ask(method, path.format(**missing), headers), missing[name])
            found = {value: _whole(ask(method, path.format(**{name: value}), headers), value) for value in there[name]}
            apart += [(caller, method, path, value) for value, said in found.items() if said != wanted]

    assert apart == []
    assert sum(1 for _ in alike()) > 20


def ask(method: str, path: str, headers: dict[str, str]) -> Any:
    if method == "GET":
        return send(method, path, None, headers)
    return send(method, path, None, headers | {"If-Match": '"1"'}, {})


def _whole(response: Any, asked_for: str) -> tuple[int, list[tuple[str, str]], bytes]:
    """Status, headers and bytes, without request id, remaining quota and the name that was asked for."""
    each_time = {"X-Request-ID", "RateLimit", "Content-Length"}
    own = "\n" if asked_for.isdecimal() else asked_for  # a number stands in other places, too; nothing repeats it
    headers = sorted((name, value.replace(own, "")) for name, value in response.items() if name not in each_time)
    return response.status_code, headers, _settled(response.content).replace(own.encode(), b"")
