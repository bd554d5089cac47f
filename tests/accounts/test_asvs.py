"""docs/asvs.md names tests that there are, counts right, and documents say what the code does."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings

from corpus_app.roles import ROLES
from inform_site import commandline, variables
from inform_site.accounts import confirming, hashing, passwords, throttle
from inform_site.clients.models import QuotaCounter
from inform_site.models import LoginAttempt
from qa_app.answers.claim_checking import MOST_CLAIMS
from qa_app.models import Feedback, FeedbackQuerySet, Follower, SentQuestion, SentQuestionQuerySet
from qa_app.pages.history import MAX_AGE_SECONDS
from tests import check

ROOT = Path(__file__).resolve().parents[2]
SHEET = (ROOT / "docs" / "asvs.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ([\d.*]+) \| ([12]) \| ([^|]+) \| (tested|met|open|–) \| ([^|]+) \|$", re.MULTILINE)
KEY_USES = re.compile(r"(?:^|\b)(?:PURPOSE|SALT) = \"([\w. ]+)\"|salted_hmac\(f?\"([\w.]+)", re.MULTILINE)


COSTLY = "INFORM_ANONYMOUS_MODEL_ANSWERS OPENAI_DAILY_LIMIT INFORM_TASK_SECONDS INFORM_TASK_MEGABYTES".split()
"""Bounds of what costs most."""


def test_the_sheet_names_tests_that_there_are_and_counts_right() -> None:
    rows = ROW.findall(SHEET)
    assert len({row[0] for row in rows}) == len(rows) == len(re.findall(r"^\| [\d.*]+ \|", SHEET, re.MULTILINE))
    states = [row[3] for row in rows]
    for number, _, _, state, text in rows:
        if state == "tested":
            file, name = text.strip("`").split("::")
            there = name in check.STEPS if file == "check.py" else _has_test(file, name)
            assert there, f"{number}: {text}"
        else:
            assert len(text) > 5, number
    applicable = len(states) - states.count("–")
    tested, met, still_open = (states.count(state) for state in ("tested", "met", "open"))
    said = f"Of {applicable} that apply, {tested} are tested ({100 * tested // applicable} %), {met} met without a test, and {still_open} open."
    assert said in " ".join(SHEET.split())


def _has_test(file: str, name: str) -> bool:
    path = ROOT / "tests" / file
    return path.exists() and re.search(rf"^(async )?def {name}\(", path.read_text(encoding="utf-8"), re.M) is not None


def test_every_use_of_a_key_is_in_the_inventory() -> None:
    found = {
        name
        for app in ("common", "corpus_app", "inform_site", "qa_app")
        for path in (ROOT / app).rglob("*.py")
        for names in KEY_USES.findall(path.read_text(encoding="utf-8"))
        for name in names
        if name
    }

    assert {name for name in found if f"`{name}`" not in SHEET} == set()


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (
            "operating.md",
            [f"| account, from browsers and addresses that it does not know | {throttle.ACCOUNT_FAILURES} |"],
        ),
        ("operating.md", [f"as `INFORM_PROXIES` reports it | {throttle.ADDRESS_FAILURES} |", "ten minutes"]),
        ("operating.md", [f"*{word}*" for word in passwords.PRODUCT]),
        ("operating.md", ["second factors", "passkeys", "openid connect", "api keys", "a shell"]),
        ("operating.md", ["12 hours", "a week", "any number of sessions", "quarter of an hour"]),
        ("operating.md", ["(365)", *(f"`{command}`" for command in commandline.AUDITED)]),
        ("operating.md", ["addresses of followers", "a keyed hash of the address", "questions and answers"]),
        ("../README.md", [f"| {role} |" for role in ROLES]),
        (
            "operating.md",
            ["ends the session here, not at the provider", "ask for it at the provider", "`INFORM_SESSION_HOURS`"],
        ),
        ("operating.md", ["`SECRET_KEY` signs and encrypts", "kept apart from backups", "change it when somebody"]),
        ("operating.md", ["fifty claims", f"{hashing.BoundedArgon2Hasher.memory_cost // 1_024} MiB, one at a time"]),
        ("operating.md", [f"`{name}`" for name in COSTLY]),
    ],
)
def test_the_documentation_says_what_the_code_does(page: str, words: list[str]) -> None:
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split()).casefold()

    assert [word for word in words if word.casefold() not in text] == []


def test_what_is_stored_of_people_is_protected_and_kept_as_the_table_says() -> None:
    page = (ROOT / "docs" / "operating.md").read_text("utf-8").partition("## Erase")[2].partition("**By age.**")[0]
    rows = {row[0]: row for row in re.findall(r"^\| ([^|]+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$", page, re.MULTILINE)}
    kept = {
        "the list of a browser's own questions": (
            timedelta(seconds=MAX_AGE_SECONDS),
            timedelta(days=180),
            "180 days",
        ),
        "an address that asked with an idempotency key": (SentQuestionQuerySet.KEPT_FOR, timedelta(days=1), "a day"),
        "ratings": (FeedbackQuerySet.VISITORS_KEPT_FOR, timedelta(days=90), "90 days"),
        "failed logins": (throttle.WINDOW, timedelta(minutes=10), "ten minutes"),
    }
    for what, (done, named, words) in kept.items():
        assert (done, words in rows[what][3]) == (named, True), what
    columns = [(SentQuestion, "client"), (Feedback, "visitor"), (LoginAttempt, "account"), (QuotaCounter, "client")]
    for model, column in columns:
        assert "keyed hash" in str(model._meta.get_field(column).help_text).casefold(), model
    assert sum("keyed hash" in row[2] for row in rows.values()) == len(columns)
    assert str(Follower._meta.get_field("address").help_text).startswith("Encrypted")
    assert "encryption" in rows["addresses of followers"][2]


def test_the_figures_of_the_documentation_are_those_of_the_code() -> None:
    defaults = {name: variable.default for name, variable in variables.VARIABLES.items()}
    assert (defaults["INFORM_SESSION_IDLE_MINUTES"], defaults["INFORM_SESSION_HOURS"]) == (12 * 60, 7 * 24)
    assert defaults["INFORM_AUDIT_DAYS"] == 365
    assert (throttle.WINDOW.total_seconds(), confirming.CONFIRMED_SECONDS) == (600, 900)
    assert settings.ACCOUNT_REAUTHENTICATION_TIMEOUT == confirming.CONFIRMED_SECONDS
    assert MOST_CLAIMS == 50
    assert (hashing.AT_ONCE, hashing.MOST_WAITING) == (1, 40)
    assert hashing.BoundedArgon2Hasher.memory_cost == 46 * 1_024
