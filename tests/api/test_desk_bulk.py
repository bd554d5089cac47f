"""Many studies changed by REST: previewed, confirmed, undone."""

from __future__ import annotations

from typing import Any

import pytest

from corpus_app.curation import bulk
from corpus_app.models import Study
from tests.api.conftest import V1, body, get, post, problem
from tests.builders import make_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("woken")]
EDITS = f"{V1}desk/bulk-edits"


def work() -> None:
    while edit := bulk.find_work():
        bulk.run_job(edit)


def test_the_whole_way_from_the_preview_to_the_undo(key: str, woken: list[str]) -> None:
    ids = [make_study(status="draft").study_id for _ in range(2)]
    wanted: dict[str, Any] = {"studies": [*ids, "gone"], "changes": {"labels": {"add": ["x"]}, "peer_reviewed": False}}

    made = post(EDITS, wanted, key)
    assert (made.status_code, body(made)["title"]) == (201, "Labels, peer reviewed of 3 studies changed"), made.content
    path = made["Location"]
    first, _, gone = body(get(f"{path}/items", key))["items"]
    assert {"field": "labels", "before": "", "after": "x"} in first["differences"]
    assert gone["refusal"] == "is no longer here"
    assert post(f"{path}/confirm", {}, key).status_code == 202
    problem(post(f"{path}/confirm", {}, key), 409, "conflict")
    assert woken == [bulk.TASK]
    work()

    assert body(get(path, key))["outcomes"] == {"changed": 2, "refused": 1}
    assert [row["study_id"] for row in body(get(f"{path}/items?outcome=refused", key))["items"]] == ["gone"]
    undo = post(f"{path}/undo", {}, key)["Location"]
    post(f"{undo}/confirm", {}, key)
    work()
    assert set(Study.objects.values_list("peer_reviewed", flat=True)) == {True}
    problem(post(f"{path}/undo", {}, key), 422, "not-possible")
    assert len(body(get(EDITS, key))["items"]) == 2


@pytest.mark.parametrize(
    ("changes", "status"),
    [({}, 422), ({"title": "x"}, 400), ({"collection": "nowhere"}, 400), ({"labels": {}}, 400), ({"design": 1}, 400)],
)
def test_a_change_that_cannot_be_is_refused(key: str, changes: Any, status: int) -> None:
    answer = post(EDITS, {"studies": [make_study().study_id], "changes": changes}, key)

    assert answer.status_code == status, answer.content
