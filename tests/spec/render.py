"""Writes docs/behaviour.md from the table: `python -m tests.spec.render`."""

from pathlib import Path

from tests.spec.table import CASES, Case, Given

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "behaviour.md"
HEAD = """# What the site does

Each promise below is a test: these studies alone, this question, this result. The page is made from
`tests/spec/table.py` by `python -m tests.spec.render`, and a test holds the two together.
"""


def render() -> str:
    return "\n".join([HEAD, *(_case(number, case) for number, case in enumerate(CASES, start=1))])


def _case(number: int, case: Case) -> str:
    head = ["| study | passage | in plain words | questions that it answers |", "|---|---|---|---|"]
    kept = [*head, *map(_row, case.given)] if case.given else ["No study at all."]
    asked = f"“{case.question}”" + (f", in the collection {case.collection}" if case.collection else "")
    told = [
        ("Result", f"`{case.outcome}`"), ("In short", case.summary), ("Details", case.details), ("Note", case.message),
    ]  # fmt: skip
    lines = [f"{name}: {text}\n" for name, text in told if text]
    return "\n".join([f"## {number}. {case.promise}", "", *kept, "", f"Question: {asked}", "", *lines])


def _row(given: Given) -> str:
    marks = [value for value in (given.status, given.notice) if value not in {"published", "none"}]
    study = f"{given.study} ({marks[0]})" if marks else given.study
    return f"| {study} | {given.text} | {given.plain} | {' '.join(given.questions)} |"


if __name__ == "__main__":
    DOCUMENT.write_text(render(), encoding="utf-8")
