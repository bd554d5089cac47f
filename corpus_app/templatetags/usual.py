"""Caching versions of Django's `translate` and `url` tags, which a page uses hundreds of times.

They cache literal texts and resolved addresses; other uses fall back to Django's tags.
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
from django.utils.translation import get_language, trans_real

register = Library()

MAX_CACHED = 4_096  # addresses of studies, answers and topics


class Translated(TranslateNode):
    """A literal text, translated once per language and the nouns of the site."""

    def __init__(self, node: TranslateNode) -> None:
        super().__init__(node.filter_expression, noop=False)
        self._has_noun = "tud" in str(node.filter_expression.var.literal)
        self._translated: dict[object, str] = {}

    def render(self, context: Context) -> str:
        active = getattr(vars(trans_real)["_active"], "value", None)
        key = (get_language(), self._has_noun and getattr(active, "nouns", None))
        if key not in self._translated:
            self._translated[key] = super().render(context)
        return self._translated[key]


@register.tag
def translate(parser: Parser, token: Token) -> Node:
    node: TranslateNode = do_translate(parser, token)
    expression = node.filter_expression
    is_usual = len(token.split_contents()) == 2 and not expression.filters
    return Translated(node) if is_usual and isinstance(expression.var.literal, SafeString) else node


class Address(Node):
    """A named URL with positional arguments; one without a namespace is cached, as it suits every request."""

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


class _ResolvedAddress(NamedTuple):
    plain: str
    escaped: SafeString


@lru_cache(maxsize=MAX_CACHED)
def _address(root: object, used: object, prefix: str, name: str, *arguments: Any) -> _ResolvedAddress:
    """Resolve a URL; the first three arguments only complete the cache key."""
    address = reverse(name, args=arguments)
    return _ResolvedAddress(address, conditional_escape(address))
