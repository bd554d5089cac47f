"""A caching version of Django's `translate` tag, which a page uses hundreds of times.

It caches literal texts; other uses fall back to Django's tag.
"""

from __future__ import annotations

from django.template import Library, Node
from django.template.base import Parser, Token
from django.template.context import Context
from django.templatetags.i18n import TranslateNode, do_translate
from django.utils.safestring import SafeString
from django.utils.translation import get_language, trans_real

register = Library()


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
