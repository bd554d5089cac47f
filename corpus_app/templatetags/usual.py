"""`translate` and `url`, which a page uses hundreds of times, in their usual form: a literal text, an address that was
made before. Everything else about them is Django's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from django.conf import settings
from django.template import Library, Node
from django.template.base import Parser, Token
from django.template.context import Context
from django.template.defaulttags import URLNode
from django.template.defaulttags import url as usual_url
from django.templatetags.i18n import TranslateNode, do_translate
from django.urls import get_script_prefix, get_urlconf, reverse
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = Library()

KEPT_MOST = 4_096  # addresses of studies, answers and topics


class Translated(TranslateNode):
    """A literal text, looked up once in each language."""

    def __init__(self, node: TranslateNode) -> None:
        super().__init__(node.filter_expression, noop=False)
        self._by_language: dict[str | None, str] = {}

    def render(self, context: Context) -> str:
        language = get_language()
        if language not in self._by_language:
            self._by_language[language] = super().render(context)
        return self._by_language[language]


@register.tag
def translate(parser: Parser, token: Token) -> Node:
    node: TranslateNode = do_translate(parser, token)
    expression = node.filter_expression
    is_usual = len(token.split_contents()) == 2 and not expression.filters
    return Translated(node) if is_usual and isinstance(expression.var.literal, SafeString) else node


class Address(Node):
    """A named address with arguments in their places; one without a namespace is the same for every request."""

    child_nodelists = ()

    def __init__(self, node: URLNode) -> None:
        self._node = node
        self._name = node.view_name.resolve(Context()) if not node.view_name.is_var else None

    def render(self, context: Context) -> str:
        name = self._name or self._node.view_name.resolve(context)
        if not isinstance(name, str) or ":" in name:
            return self._node.render(context)
        arguments = tuple(argument.resolve(context) for argument in self._node.args)
        address = _address(settings.ROOT_URLCONF, get_urlconf(), get_script_prefix(), name, *map(str, arguments))
        return address.escaped if context.autoescape else address.plain


@register.tag
def url(parser: Parser, token: Token) -> Node:
    node: URLNode = usual_url(parser, token)
    return node if node.kwargs or node.asvar else Address(node)


class _Made(NamedTuple):
    plain: str
    escaped: SafeString


@lru_cache(maxsize=KEPT_MOST)
def _address(root: object, used: object, prefix: str, name: str, *arguments: Any) -> _Made:
    """The first three are what the address depends on beside its own parts."""
    address = reverse(name, args=arguments)
    return _Made(address, conditional_escape(address))
