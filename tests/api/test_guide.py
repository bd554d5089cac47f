"""docs/api.md: every example runs as written and prints what stands below it; its tables are those of the code."""

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.urls import get_resolver
from django.utils import timezone
from rest_framework import exceptions

from corpus_app import embedding, indexing
from corpus_app.api import studies
from corpus_app.public.selection import FIRST, LAST
from inform_site import assistants
from inform_site.api import access, bodies, paging, problems
from inform_site.clients import keys
from inform_site.clients.limits import Limits
from inform_site.clients.models import Scope
from inform_site.serving import make_site
from inform_site.variables import VARIABLES
from qa_app.answers import asking, exporting, streaming
from qa_app.models import Answer
from tests.api.conftest import described
from tests.fakes import WordHashEncoder
from tests.live import serving
from tests.pipeline.corpora import copy_slice

ROOT = Path(__file__).resolve().parents[2]
SLICE = ("S007", "S014", "S018", "S028", "S034", "S110")
GUIDE = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
RUNNERS = {
    "sh": ["bash", "-euo", "pipefail", "-c"],
    "python": [sys.executable, "-c"],
    "js": ["node", "--input-type=module", "-e"],
}
EXAMPLE = re.compile(r"^```(sh|python|js)\n(.*?)^```\n(?:\n^```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
OURS = ("corpus_app.", "inform_site.", "qa_app.")


@dataclass(frozen=True, slots=True)
class Example:
    line: int
    language: str
    code: str
    prints: str

    def __str__(self) -> str:
        return f"docs/api.md:{self.line} ({self.language})"


def examples() -> list[Example]:
    return [
        Example(GUIDE[: found.start()].count("\n") + 1, found[1], found[2], found[3] or "")
        for found in EXAMPLE.finditer(GUIDE)
    ]


def section(title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", GUIDE, re.MULTILINE | re.DOTALL)
    assert found, title
    return found[1]


def rows(title: str) -> list[list[str]]:
    """The cells of a section's first table, without its head."""
    found = re.search(r"^\|---.*\n((?:\|.*\n)+)", section(title), re.MULTILINE)
    assert found, title
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found[1].splitlines()]


@pytest.fixture
def site(transactional_db: None, tmp_path: Path, settings: Any) -> Iterator[dict[str, str]]:
    """A served slice of the starter corpus; gives the environment that the guide asks for."""
    (tmp_path / "corpus").mkdir()
    folder = copy_slice(tmp_path / "corpus", SLICE)
    settings.KEY_QUOTAS = {key: most for name, (key, most) in defaults().items() if name.startswith("INFORM_KEY_")}
    curator = User.objects.create_superuser("guide")
    key = keys.make(name="guide", scopes=Scope.values, owner=curator, by=None, now=timezone.now())
    with embedding.use(WordHashEncoder()):
        call_command("import_corpus", str(folder), publish=True, verbosity=0)
        indexing.index_stale()
        with serving(assistants.mount_mcp(make_site())) as url:
            yield {"INFORM_URL": url, "INFORM_KEY": key.secret}


def run(example: Example, site: dict[str, str], folder: Path) -> str | None:
    """What went wrong; None where all is as the guide says."""
    answer = Answer.objects.order_by("created_at").values_list("pk", flat=True).first()
    environment = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    ran = subprocess.run(
        [*RUNNERS[example.language], example.code], cwd=folder,
        env=environment | site | {"INFORM_ANSWER": answer or "", "PYTHONIOENCODING": "utf-8", "HOME": str(folder)},
        capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip
    if ran.returncode:
        return f"{example} ended with {ran.returncode}:\n{ran.stderr}{ran.stdout}"
    printed = ran.stdout.rstrip("\n") + "\n" if ran.stdout else ""
    if not re.fullmatch(pattern(example.prints), printed):
        return f"{example} printed\n{printed}instead of\n{example.prints}"
    return None


def pattern(shown: str) -> str:
    """`…` stands for what differs from site to site: any lines on a line of its own, else the rest of a word or line."""
    lines = [r"(?:.*\n)*?" if line == "…" else re.escape(line).replace("…", ".*") + "\n" for line in shown.splitlines()]
    return "".join(lines)


def test_every_example_runs_and_prints_what_the_guide_shows(site: dict[str, str], tmp_path: Path) -> None:
    """In the guide's order, as somebody who reads it would try them."""
    there = [example for example in examples() if shutil.which(RUNNERS[example.language][0])]
    folder = tmp_path / "tried"
    folder.mkdir()

    wrong = [said for example in there if (said := run(example, site, folder))]

    assert {example.language for example in examples()} == set(RUNNERS)
    assert len(examples()) == len(re.findall(r"^```(?:sh|python|js)$", GUIDE, re.MULTILINE))
    if wrong:
        pytest.fail("\n".join(wrong), pytrace=False)
    if len(there) < len(examples()):
        pytest.skip("not all languages of the guide are installed here: curl, node")


def test_settings_for_assistants_are_json_with_the_address() -> None:
    told = re.findall(r"^```json\n(.*?)^```", section("Assistants"), re.MULTILINE | re.DOTALL)

    assert len(told) == 3
    for words in told:
        [servers] = json.loads(words).values()
        assert f"http://127.0.0.1:8000{assistants.PATH}" in json.dumps(servers["inform"])
        assert "Bearer inform_…" in json.dumps(servers["inform"], ensure_ascii=False)


@pytest.mark.django_db
def test_the_commands_of_the_guide_are_ours() -> None:
    made = re.search(r"^\S+ manage\.py apikey (make .*)$", GUIDE, re.MULTILINE)
    assert made
    printed = io.StringIO()

    call_command("apikey", *shlex.split(made[1]), stdout=printed, stderr=io.StringIO())

    key = keys.find(printed.getvalue().strip(), now=timezone.now())
    assert set(key.scopes) == {Scope.ASK, Scope.READ}
    for verb in re.findall(r"`apikey (\w+)", GUIDE):
        with pytest.raises(CommandError, match=r"PREFIX|prefix") if verb != "list" else nullcontext():
            call_command("apikey", verb, stdout=io.StringIO())


def name(cell: str) -> str:
    return cell.strip("`")


def test_the_tables_name_every_problem_scope_filter_form_and_tool() -> None:
    told = {name(row[0]): int(row[1]) for row in rows("Errors")}
    raised = {
        problems.body_of(kind())["type"].removeprefix(problems.URN): int(kind.status_code)
        for kind in kinds(exceptions.APIException)
        if kind.__init__ is exceptions.APIException.__init__ and kind is not exceptions.APIException
    }
    scopes = {name(row[0]): row[2].partition(",")[0] == "yes" for row in rows("Keys")}
    first = next(row for row in rows("The corpus") if row[0] == "`studies`")
    assistant = (ROOT / "inform_site" / "assistants.py").read_text(encoding="utf-8")

    assert raised.items() <= told.items()
    assert set(told) == set(problems.TITLES) | set(raised)
    assert scopes == {scope: scope in access.ANONYMOUS_SCOPES for scope in Scope.values}
    assert set(re.findall(r"`(\w+)`", first[1])) == {*studies.OTHER_FILTERS, *FIRST, *LAST, "age", "sex", "training"}
    assert {name(row[0]) for row in rows("An answer to take along")} == set(exporting.FORMS)
    assert {name(r[0]) for r in rows("Assistants")} == set(re.findall(r"@server\.tool.*\n +async def (\w+)", assistant))


def kinds(base: type[exceptions.APIException]) -> Iterator[type[exceptions.APIException]]:
    """What is raised by the addresses, which reading them all has brought in."""
    get_resolver().url_patterns  # noqa: B018
    for kind in base.__subclasses__():
        if kind.__module__.startswith(OURS):
            yield kind
        yield from kinds(kind)


def defaults() -> dict[str, tuple[str, Limits]]:
    """The setting and the default limits of each quota."""
    source = (ROOT / "inform_site" / "settings.py").read_text(encoding="utf-8")
    found = re.findall(r'"(\w+)": read\("(INFORM_(?:ANONYMOUS|KEY)_\w+)"\)', source)
    assert {quota for quota, _ in found} == set(settings.KEY_QUOTAS) | set(settings.ANONYMOUS_QUOTAS)
    return {setting: (quota, VARIABLES[setting].default) for quota, setting in found}


def test_quotas_stand_in_the_table_with_their_defaults() -> None:
    columns = {name(row[0]): {"without": row[2], "with": row[3]} for row in rows("Quotas")}
    kept = {quota: {"without": "none", "with": "none"} for quota in settings.ANONYMOUS_QUOTAS | settings.KEY_QUOTAS}
    for setting, (quota, limits) in defaults().items():
        column = "with" if setting.startswith("INFORM_KEY_") else "without"
        kept[quota][column] = f"{limits.per_minute:,} a minute, {limits.per_day:,} a day"

    assert columns == kept


def test_every_address_of_the_schema_is_in_the_guide() -> None:
    """By itself, or with its family: an address that ends in `/…`."""
    spans = [words.split("?")[0].split()[-1] for words in re.findall(r"`([^`\n]+)`", GUIDE)]
    named = {nameless(span.removeprefix("/api/v1/")) for span in spans}
    families = tuple(span.removesuffix("…") for span in spans if span.endswith("/…"))

    paths = [path for path in described()["paths"] if not path.startswith(families)]
    assert [path for path in paths if nameless(path.removeprefix("/api/v1/")) not in named] == []


def nameless(path: str) -> str:
    """`studies/{}` for `studies/{study_id}`."""
    return re.sub(r"\{\w+\}", "{}", path)


def test_the_limits_are_those_of_the_code() -> None:
    corpus, limits = (" ".join(section(title).split()) for title in ("The corpus", "Limits"))

    assert f"`limit` is 1 to {paging.CursorPages.max_page_size} rows a page ({paging.CursorPages.page_size})" in corpus
    assert f"`question` (1 to {asking.MAX_QUESTION_LENGTH:,} characters)" in GUIDE
    assert f"of at most {bodies.LARGEST_BODY // 1024} KB, {bodies.DEEPEST} levels deep" in limits
    assert f"a number of more than {bodies.LONGEST_NUMBER} characters" in limits
    assert f"At most {streaming.MAX_STREAMS} streams" in limits
