"""The form field of a study's risk of bias: one row for each domain of the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.renderers import get_default_renderer
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe

from corpus_app.appraisal import (
    BIAS_DOMAINS,
    BIAS_JUDGEMENTS,
    BiasDomain,
    BiasJudgement,
    BiasTool,
    bias_from_json,
    bias_to_json,
)

TOOL_NAMES = {BiasTool.ROB_2: "RoB 2", BiasTool.ROBINS_I: "ROBINS-I", BiasTool.OTHER: "Another tool"}
_HEAD = ("tool", "overall", "reason")
_DOMAINS = tuple(BiasDomain)


def _judgements(empty: str) -> list[tuple[str, str]]:
    """Return the judgements as choices, each with the tools that have it."""
    return [("", empty)] + [
        (judgement.value, f"{_words(judgement)} ({_tools(judgement, BIAS_JUDGEMENTS)})") for judgement in BiasJudgement
    ]


def _tools(value: Any, having: Any) -> str:
    return ", ".join(TOOL_NAMES[tool] for tool in (BiasTool.ROB_2, BiasTool.ROBINS_I) if value in having[tool])


def _words(value: str) -> str:
    return value.replace("_", " ").capitalize()


def _html(renderer: Any, cell: dict[str, Any]) -> str:
    return mark_safe(renderer.render(cell["template_name"], {"widget": cell}))  # noqa: S308 - Django's own template


class BiasWidget(forms.MultiWidget):
    """Selects and texts: the tool, the overall judgement and its reason, then a judgement and a reason a domain."""

    use_fieldset = True

    def __init__(self) -> None:
        head = [
            forms.Select(choices=[("", "Not assessed"), *TOOL_NAMES.items()]),
            forms.Select(choices=_judgements("The worst of the domains")),
            forms.Textarea(attrs={"rows": 2, "cols": 60}),
        ]
        domains = [
            widget
            for _ in _DOMAINS
            for widget in (
                forms.Select(choices=_judgements("Not judged")),
                forms.Textarea(attrs={"rows": 2, "cols": 60, "placeholder": "Reason"}),
            )
        ]
        super().__init__([*head, *domains])

    def decompress(self, value: Any) -> list[str]:
        row = value or {}
        judged = {domain["domain"]: domain for domain in row.get("domains", ())}
        cells = [judged.get(domain, {}).get(key, "") for domain in _DOMAINS for key in ("judgement", "reason")]
        return [*(row.get(key) or "" for key in _HEAD), *cells]

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        renderer = renderer or get_default_renderer()
        cells = [
            {"id": cell["attrs"].get("id", ""), "html": _html(renderer, cell)}
            for cell in self.get_context(name, value, attrs)["widget"]["subwidgets"]
        ]
        labels = [f"{_words(domain)} ({_tools(domain, BIAS_DOMAINS)})" for domain in _DOMAINS]
        rows = zip(labels, cells[len(_HEAD) :: 2], cells[len(_HEAD) + 1 :: 2], strict=True)
        head = zip(("Tool", "Overall judgement", "Why, or the other tool’s name"), cells, strict=False)
        return render_to_string("admin/corpus_app/study/risk_of_bias.html", {"head": list(head), "rows": list(rows)})


class BiasField(forms.MultiValueField):
    """A field whose value is the assessment as the study's row stores it; None where no tool is chosen."""

    def __init__(self, **options: Any) -> None:
        fields = [forms.CharField(required=False, max_length=5_000) for _ in range(len(_HEAD) + 2 * len(_DOMAINS))]
        super().__init__(fields, widget=BiasWidget(), required=False, require_all_fields=False, **options)

    def compress(self, data_list: Sequence[str]) -> dict[str, Any] | None:
        head = dict(zip(_HEAD, data_list, strict=False))
        cells = data_list[len(_HEAD) :]
        rows = [
            {"domain": domain.value, "judgement": judgement, "reason": reason}
            for domain, judgement, reason in zip(_DOMAINS, cells[::2], cells[1::2], strict=False)
            if judgement or reason
        ]
        if not head.get("tool"):
            if rows or any(head.values()):
                raise ValidationError("Choose the tool by which you judged.")
            return None
        if unjudged := [row["domain"] for row in rows if not row["judgement"]]:
            raise ValidationError(f"Give a judgement beside the reason for {unjudged[0].replace('_', ' ')}.")
        try:
            return bias_to_json(bias_from_json({**head, "domains": rows}))
        except ValueError as error:
            raise ValidationError(f"The assessment {error}") from error
        except KeyError as error:
            raise ValidationError("Choose the tool and the judgements from the lists.") from error
