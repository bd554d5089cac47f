"""axe, in a page that is watched."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.conftest import Watch

STOCK = {"empty-table-header": {"enabled": False}}  # Django's own tables of inline rows begin with one
FINISH = """document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
  .forEach((running) => running.finish())"""  # half faded colours are none
RUN = """(options) => axe.run(document, options).then(({ violations }) => violations.map(({ id, help, nodes }) =>
  `${id}: ${help}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(" | ")}`))"""


def assert_accessible(page: Page, watch: Watch, *, rules: dict[str, Any] | None = None) -> None:
    """`rules` are axe's, where some are not ours to keep."""
    options = {"resultTypes": ["violations"], "rules": rules or {}}
    page.evaluate(FINISH)
    complaints = list(watch.complaints)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(RUN, options)
    watch.complaints[:] = complaints  # axe itself tries inline styles, which the content policy refuses
    assert found == []
