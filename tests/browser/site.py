"""The words of a browser test: ask, open a citation, make an answer to look at."""

import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.utils import timezone
from playwright.sync_api import Page, Route

from qa_app.answers import asking
from qa_app.models import Answer
from tests.builders import make_policy
from tests.qa.payloads import make_payload

STREAM = "**/api/v1/answers/stream"
SETS = "how many sets should I do for bigger muscles?"
PIZZA = "What is the best pizza in Naples?"
SHOES = "What are the best shoes for squats?"
EMERGENCY = "I get chest pain when I lift, should I do more sets?"
WOMEN = "What about women?"
MEANT = "how many sets should I do for bigger muscles in women?"
SUBJECT = "single versus multiple sets and muscle hypertrophy in women"
COUNTED = "How many studies do you have?"

TERM = {"id": "few", "name": "few sets", "definition": "Up to four sets a week for a muscle."}
STAND: dict[str, Any] = {
    "outcome_concept": "hypertrophy", "outcome_name": "muscle growth",
    "favours": [{"study_id": "T001", "finding_id": 9001, "statement": "Ten sets beat five."}],
    "no_difference": [{"study_id": "T002", "finding_id": 9002, "statement": "A dose made no difference."}],
    "against": [], "unclear": [], "by_population": [],
}  # fmt: skip


def script(name: str) -> str:
    """A function for the page, of `scripts`."""
    return (Path(__file__).parent / "scripts" / f"{name}.js").read_text("utf-8").strip()


@dataclass(frozen=True, slots=True)
class Site:
    url: str

    def ask(self, page: Page, question: str = SETS) -> None:
        """Types the question on the ask page and sends it; the answer stands there afterwards."""
        page.goto(self.url)
        page.get_by_label("Your question").fill(question)
        page.get_by_role("button", name="Ask", exact=True).click()
        page.wait_for_url("**/answers/*/")
        page.locator("#question-title").wait_for()

    def answer_to(self, question: str = SETS, **arguments: Any) -> str:
        """The address of the pipeline's answer."""
        return self.url + asking.ask(question=question, **arguments)["url"]

    def stored(self, **changes: Any) -> str:
        """The address of an answer with this payload, stored as it stands."""
        answer_id = uuid.uuid4().hex
        payload = make_payload(**changes) | {"id": answer_id, "url": f"/answers/{answer_id}/"}
        Answer.objects.create(
            id=answer_id, request_id=uuid.uuid4(), question=payload["question"], mode=payload["mode"],
            outcome=payload["outcome"], corpus_version=payload["corpus_version"], policy=make_policy(), payload=payload,
            created_at=timezone.now(),
        )  # fmt: skip
        return self.url + payload["url"]


def payload_of(page: Page) -> dict[str, Any]:
    """The payload of the answer that the page shows."""
    return asking.find_answer(page.url.rstrip("/").rpartition("/")[2])


def cut_short(route: Route, *, after: str = "event: retrieval") -> None:
    """Of a stream nothing but its events up to the last one before the end that begins like this."""
    whole = route.fetch()
    pieces = whole.text().split("\n\n")
    last = max(place for place, piece in enumerate(pieces) if after in piece)
    route.fulfill(response=whole, body="\n\n".join(pieces[: last + 1]) + "\n\n")
