"""Read the formulas of articles as one line of text: x², ≤, a/b."""

from __future__ import annotations

import re
import unicodedata

from corpus_app.sources.markup import decode_latex, lowered, raised
from corpus_app.sources.trees import Node

_RELATIONS = frozenset("=<>≤≥≈≠∼~±×→⟶∝≡≪≫⩽⩾")
_INVISIBLE = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064"))
"""Operators such as the invisible times."""
_OVER = {"¯": "\u0304", "‾": "\u0304", "―": "\u0304", "_": "\u0304", "^": "\u0302", "ˆ": "\u0302", "~": "\u0303",
         "˜": "\u0303", "˙": "\u0307", ".": "\u0307", "→": "\u20d7", "¨": "\u0308"}  # fmt: skip
"""Marks over a sign, as combining characters."""
_COMPOUND = re.compile(r"[^\w.^⁰-⁹²³¹₀-₉√]")


def formula_text(node: Node) -> str | None:
    """Return a formula from its MathML, else from its TeX; None where the node has neither."""
    first: dict[str, Node] = {}
    for part in node.walk():
        first.setdefault(part.tag, part)
    if "math" in first and (text := " ".join(_text(first["math"]).split())):
        return text
    if "tex-math" not in first:
        return None
    written = first["tex-math"].text()
    _, _, behind = written.partition(r"\begin{document}")
    body, end, _ = behind.partition(r"\end{document}")
    return " ".join(decode_latex(f"${(body if end else written).strip().strip('$')}$").split()) or None


def _text(node: Node) -> str:
    parts = [*node]
    match node.tag:
        case "mi" | "mn" | "mtext" | "ms":
            return node.text().translate(_INVISIBLE)
        case "mo":
            return _operator(node.text().translate(_INVISIBLE))
        case "mspace":
            return " "
        case "annotation" | "annotation-xml" | "mphantom":
            return ""
        case "semantics":
            return "".join(map(_text, parts[:1]))
        case "msup" | "msub" | "msubsup" if len(parts) > 1:
            return _scripted(node.tag, *map(_text, parts))
        case "mfrac" if len(parts) == 2:
            return "/".join(map(_grouped, map(_text, parts)))
        case "msqrt":
            return f"√{_grouped(''.join(map(_text, parts)))}"
        case "mroot" if len(parts) == 2:
            return f"{raised(_text(parts[1]))}√{_grouped(_text(parts[0]))}"
        case "mover" if len(parts) == 2:
            base, over = map(_text, parts)
            mark = _OVER.get(over.strip())
            return unicodedata.normalize("NFC", base + mark) if mark and len(base) == 1 else f"{base}^({over.strip()})"
        case "munder" | "munderover":
            return _scripted("msubsup" if len(parts) > 2 else "msub", *map(_text, parts))
        case "mfenced":
            opening, closing = node.attributes.get("open", "("), node.attributes.get("close", ")")
            return f"{opening}{', '.join(map(_text, parts))}{closing}"
        case "mtable":
            return "; ".join(map(_text, parts))
        case "mtr":
            return ", ".join(map(_text, parts))
    return "".join(map(_text, parts)) or ("" if parts else node.text())


def _operator(sign: str) -> str:
    if sign == "-":
        return "−"
    return f" {sign} " if sign in _RELATIONS else f"{sign} " if sign in {",", ";"} else sign


def _scripted(tag: str, base: str, *scripts: str) -> str:
    base = _grouped(base) if base and base[0] not in "([{|" else base
    low = scripts[0] if tag in {"msub", "msubsup"} else ""
    high = scripts[-1] if tag in {"msup", "msubsup"} else ""
    prime = high.strip() in {"′", "″", "'"}
    return f"{base}{lowered(low)}{high.strip() if prime else raised(high)}"


def _grouped(text: str) -> str:
    """Return an operand, in brackets where it is more than one sign, number or word."""
    text = text.strip()
    is_closed = text[:1] in "([" and text[-1:] in ")]" and text.count("(") < 2 and text.count("[") < 2
    return f"({text})" if _COMPOUND.search(text) and not is_closed else text
