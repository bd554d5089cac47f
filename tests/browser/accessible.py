"""axe, in a page that is watched."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.conftest import Watch

STOCK = {"empty-table-header": {"enabled": False}}  # Django's own tables of inline rows begin with one
OF_COLOURS = ["color-contrast", "link-in-text-block"]
FINISH = """document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime < Infinity)
  .forEach((running) => running.finish())"""  # half faded colours are none
RUN = """(options) => axe.run(document, options).then(({ violations }) => violations.map(({ id, help, nodes }) =>
  `${id}: ${help}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(" | ")}`))"""


def assert_accessible(
    page: Page, watch: Watch, *, rules: dict[str, Any] | None = None, only_colours: bool = False
) -> None:
    """`rules` are axe's, where some are not ours to keep. `only_colours`: for a page of which no more than these has changed."""
    options: dict[str, Any] = {"resultTypes": ["violations"], "rules": rules or {}}
    if only_colours:
        options["runOnly"] = {"type": "rule", "values": OF_COLOURS}
    page.evaluate(FINISH)
    complaints = list(watch.complaints)
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    found = page.evaluate(RUN, options)
    watch.complaints[:] = complaints  # axe itself tries inline styles, which the content policy refuses
    assert found == []
